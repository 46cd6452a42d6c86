/* A thread's own clocks in ns: wall, CPU, and run delay (runnable, but another thread had the processor). */
#ifndef CLOCKS_H
#define CLOCKS_H
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct clocks { long wall, cpu, delay; };

static inline long clock_ns(clockid_t which) {
  struct timespec t;
  clock_gettime(which, &t);
  return t.tv_sec * 1000000000L + t.tv_nsec;
}

static inline long run_delay_ns(void) {
  static __thread int file = -1;
  char text[96] = "";
  if (file < 0) file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  if (pread(file, text, sizeof text - 1, 0) <= 0) return 0;
  long ran, waited = 0;
  sscanf(text, "%ld %ld", &ran, &waited);
  return waited;
}

static inline struct clocks clocks_now(void) {
  return (struct clocks){clock_ns(CLOCK_MONOTONIC), clock_ns(CLOCK_THREAD_CPUTIME_ID), run_delay_ns()};
}

static inline void clocks_add(struct clocks *sum, struct clocks from, struct clocks to) {
  sum->wall += to.wall - from.wall;
  sum->cpu += to.cpu - from.cpu;
  sum->delay += to.delay - from.delay;
}

/* The members of a JSON object. */
static inline void clocks_print(struct clocks c) {
  printf("\"wall_ns\":%ld,\"cpu_ns\":%ld,\"delay_ns\":%ld", c.wall, c.cpu, c.delay);
}
#endif
