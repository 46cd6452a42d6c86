/* An OpenSHMEM program: every element works and adds one to a number of the first. */
#include "burn.h"
#include <shmem.h>
#include <stdio.h>

static long count;

NOINLINE static void element_work(double meg) { BURN(meg); }

int main(void) {
  shmem_init();
  element_work(400.0 / shmem_n_pes());
  shmem_long_atomic_add(&count, 1, 0);
  shmem_barrier_all();
  if (shmem_my_pe() == 0) printf("elements %d sum %ld\n", shmem_n_pes(), count);
  shmem_finalize();
  return 0;
}
