/* threads COUNT MICROSECONDS: this many threads, at most four at a time, each of which uses this much CPU time; says
   how much CPU time the whole process used. */
#include "burn.h"
#include "clocks.h"
#include <pthread.h>
#include <sys/resource.h>

static long each_ns;

NOINLINE void thread_work(void) {
  while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < each_ns) BURN(0.02);
}

static void *thread(void *argument) { thread_work(); return argument; }

int main(int argc, char **argv) {
  int count = argc > 1 ? atoi(argv[1]) : 4, live = count < 4 ? count : 4;
  each_ns = (argc > 2 ? atol(argv[2]) : 250000) * 1000;
  pthread_t all[4];
  for (int i = 0; i < live; i++) if (pthread_create(&all[i], 0, thread, 0)) return 2;
  for (int i = live; i < count; i++) {
    pthread_join(all[i % live], 0);
    if (pthread_create(&all[i % live], 0, thread, 0)) return 2;
  }
  for (int i = 0; i < live; i++) pthread_join(all[(count + i) % live], 0);
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  printf("cpu_us %ld\n", (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000L + used.ru_utime.tv_usec + used.ru_stime.tv_usec);
  return 0;
}
