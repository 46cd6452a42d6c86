// Threads that wait for each other by yielding, more than there are processors: who waits lets the others run.
//
// Usage: yields ROUNDS. In each round one thread in turn works for WORK_NS of CPU time, the others yield until it has. It prints
// the threads' CPU time in work() and in wait_for_all(), read from their own clocks.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS = 4, WORK_NS = 2000000 };

static atomic_int arrived;
static int rounds;
static long in_work[THREADS], in_wait[THREADS];

static long cpu_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * 1000000000L + t.tv_nsec;
}

__attribute__((noinline)) static long work(long from) {
  volatile double x = 1;
  long now;
  do {
    for (int i = 0; i < 20000; i++) x = x * 1.0000001;
    now = cpu_ns();
  } while (now - from < WORK_NS);
  return now;
}

__attribute__((noinline)) static void wait_for_all(int round) {
  arrived++;
  while (arrived < THREADS * (round + 1)) sched_yield();
}

static void *run(void *argument) {
  int me = (int)(long)argument;
  long now = cpu_ns();
  for (int round = 0; round < rounds; round++) {
    long worked = round % THREADS == me ? work(now) : now;
    in_work[me] += worked - now;
    wait_for_all(round);
    now = cpu_ns();
    in_wait[me] += now - worked;
  }
  return NULL;
}

int main(int argc, char **argv) {
  rounds = argc > 1 ? atoi(argv[1]) : 100;
  pthread_t threads[THREADS];
  for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, run, (void *)i);
  long worked = 0, waited = 0;
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    worked += in_work[i];
    waited += in_wait[i];
  }
  printf("{\"work_ns\": %ld, \"wait_ns\": %ld}\n", worked, waited);
}
