/* lull NAPS: gives the processor up thousands of times a second, in so many naps of 50 us; then waits for twenty blocks of 20 ms;
   then waits once for 500 ms. Says as JSON how long it was in each by its own clocks. */
#define _GNU_SOURCE
#include "burn.h"
#include "clocks.h"
#include <poll.h>
#include <stdint.h>
#include <sys/timerfd.h>

NOINLINE void nap(long times) {
  struct timespec length = {0, 50000};
  while (times-- > 0) nanosleep(&length, 0);
}

NOINLINE void read_blocks(void) {
  for (int i = 0; i < 20; i++) {
    struct itimerspec once = {{0, 0}, {0, 20000000}};
    uint64_t ticks;
    int fd = timerfd_create(CLOCK_MONOTONIC, 0);
    if (fd < 0 || timerfd_settime(fd, 0, &once, 0) || read(fd, &ticks, sizeof ticks) != sizeof ticks) exit(3);
    close(fd);
  }
}

NOINLINE void wait_last(void) {
  if (poll(0, 0, 500)) exit(4);
}

static void say(const char *path, struct clocks sum, const char *after) {
  printf("{\"path\":\"%s\",", path);
  clocks_print(sum);
  printf("}%s", after);
}

int main(int argc, char **argv) {
  struct clocks sums[3] = {{0}}, from = clocks_now();
  nap(argc > 1 ? atol(argv[1]) : 4000);
  clocks_add(&sums[0], from, clocks_now());
  from = clocks_now();
  read_blocks();
  clocks_add(&sums[1], from, clocks_now());
  from = clocks_now();
  wait_last();
  clocks_add(&sums[2], from, clocks_now());
  printf("{\"thread\":%ld,\"paths\":[", (long)getpid());
  say("nap", sums[0], ",");
  say("read_blocks", sums[1], ",");
  say("wait_last", sums[2], "]}\n");
  return 0;
}
