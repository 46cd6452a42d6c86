/* injector PERIOD_US LENGTH_US PHASE_US SECONDS CPU: takes a processor for a known time again and again. With the right to, it
   does so before any ordinary program (SCHED_FIFO), else as one of them. Says as JSON how often and how long in sum. */
#define _GNU_SOURCE
#include "../clocks.h"
#include <sched.h>

static void sleep_until(long wall_ns) {
  struct timespec t = {wall_ns / 1000000000L, wall_ns % 1000000000L};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, 0)) {}
}

int main(int argc, char **argv) {
  if (argc != 6) {
    fprintf(stderr, "usage: %s PERIOD_US LENGTH_US PHASE_US SECONDS CPU\n", argv[0]);
    return 2;
  }
  long period = atol(argv[1]) * 1000, length = atol(argv[2]) * 1000, phase = atol(argv[3]) * 1000;
  double seconds = atof(argv[4]);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(atoi(argv[5]), &one);
  if (sched_setaffinity(0, sizeof one, &one)) return perror("sched_setaffinity"), 1;
  int first = !sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 10});

  long begin = clock_ns(CLOCK_MONOTONIC), end = begin + (long)(seconds * 1e9), count = 0, total = 0;
  for (long next = begin + phase; next < end; next += period) {
    sleep_until(next);
    long from = clock_ns(CLOCK_MONOTONIC), now = from;
    while (now - from < length) now = clock_ns(CLOCK_MONOTONIC);
    count++;
    total += now - from;
  }
  printf("{\"count\":%ld,\"total_ns\":%ld,\"first\":%s}\n", count, total, first ? "true" : "false");
  return 0;
}
