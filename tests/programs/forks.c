/* forks COUNT: works a little, and has a child do nothing, by turns. Says how much CPU time the work took, and how much all
   did. */
#include "burn.h"
#include "clocks.h"
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

NOINLINE void parent_work(void) { BURN(0.3); }

static long used_us(int who) {
  struct rusage used;
  getrusage(who, &used);
  return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000L + used.ru_utime.tv_usec + used.ru_stime.tv_usec;
}

int main(int argc, char **argv) {
  long work_ns = 0;
  for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 1000); i++) {
    long begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    parent_work();
    work_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
    if (!fork()) _exit(0);
    wait(0);
  }
  printf("work_us %ld\ncpu_us %ld\n", work_ns / 1000, used_us(RUSAGE_SELF) + used_us(RUSAGE_CHILDREN));
  return 0;
}
