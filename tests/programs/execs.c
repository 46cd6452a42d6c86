/* execs COUNT: replaces itself COUNT times by exec, each time after up to 8 ms of work, so that timer
   signals meet every moment of an exec. The last image says how many there were. */
#include "burn.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

NOINLINE void some_work(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  BURN((now.tv_nsec / 1000 % 8000) / 1000.0);
}

int main(int argc, char **argv) {
  int left = argc > 1 ? atoi(argv[1]) : 0;
  int seen = argc > 2 ? atoi(argv[2]) : 0;
  some_work();
  if (left == 0) { printf("execs %d\n", seen); return 0; }
  char next[16], count[16];
  snprintf(next, sizeof next, "%d", left - 1);
  snprintf(count, sizeof count, "%d", seen + 1);
  execl("/proc/self/exe", "execs", next, count, (char *)0);
  return 9;
}
