/* Ranks of unequal work: an inlined kernel in a loop, a recursion, and a reduction in which the early ones wait.
   An argument scales the work, 1 being about a second of a processor for rank 0 of two. */
#include "burn.h"
#include <mpi.h>
#include <stdlib.h>

static inline __attribute__((always_inline)) void kernel(double meg) { BURN(meg); }

NOINLINE static void solve(double meg) {
  for (int part = 0; part < 4; part++)
    kernel(meg / 4);
}

NOINLINE static void walk(int depth, double meg) {
  BURN(meg / 8);
  if (depth > 1)
    walk(depth - 1, meg);
  __asm__ volatile("" ::: "memory");
}

NOINLINE static void work(double meg) {
  solve(meg);
  walk(8, meg / 2);
}

int main(int argc, char **argv) {
  double scale = argc > 1 ? atof(argv[1]) : 1, mine = 0, all = 0;
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int step = 0; step < 10; step++) {
    work(scale * 100 * (1 + 0.5 * rank) / size);
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
