/* rivals MILLISECONDS: two threads that work at the same time, each for so much CPU time; on one processor each waits
   for the other. Says as JSON what each of them measured by its own clocks. */
#define _GNU_SOURCE
#include "burn.h"
#include "clocks.h"
#include <pthread.h>

static long each_ns;
static struct result { long thread; struct clocks sum; } results[2];

NOINLINE void rival_work(void) {
  while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < each_ns) BURN(0.1);
}

static void *rival(void *result) {
  struct clocks from = clocks_now();
  struct result *own = result;
  rival_work();
  own->thread = syscall(SYS_gettid);
  clocks_add(&own->sum, from, clocks_now());
  return 0;
}

int main(int argc, char **argv) {
  pthread_t all[2];
  each_ns = (argc > 1 ? atol(argv[1]) : 500) * 1000000L;
  for (int i = 0; i < 2; i++) pthread_create(&all[i], 0, rival, &results[i]);
  for (int i = 0; i < 2; i++) pthread_join(all[i], 0);
  for (int i = 0; i < 2; i++) {
    printf("%s{\"thread\":%ld,", i ? "," : "[", results[i].thread);
    clocks_print(results[i].sum);
    printf("}");
  }
  puts("]");
  return 0;
}
