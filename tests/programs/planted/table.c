/* The table of workflow/tests/data/strong.csv as a program: each function works as long as the table says, 12 ms of the
   processor for a second. Its own clock says when it has, so that a processor's speed, which differs between one process
   and many, plays no part. */
#include "../burn.h"
#include "../clocks.h"
#include <stdlib.h>

static int size = 1;

#define WORK(seconds)                                                                              \
  do {                                                                                             \
    long end_ = clock_ns(CLOCK_THREAD_CPUTIME_ID) + (long)(12e6 * (seconds));                      \
    while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_) BURN(0.02);                                   \
  } while (0)
NOINLINE void solve(void) { WORK(16.0 / size); }
NOINLINE void init(void) { WORK(1.0); }
NOINLINE void reduce(void) { WORK(0.25 * (size - 1)); }
NOINLINE void serial_io(void) { WORK(0.5); }
NOINLINE void parallel_io(void) { WORK(0.5); }

int main(void) {
  const char *text = getenv("PMI_SIZE");
  if (text) size = atoi(text);
  solve();
  init();
  reduce();
  if (size == 1) serial_io();
  else parallel_io();
  return 0;
}
