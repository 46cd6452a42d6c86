/* The table of workflow/tests/data/strong.csv as a program: each function works as long as the table says, in units of
   twelve million steps for a second. */
#include "../burn.h"
#include <stdlib.h>

static int size = 1;

#define WORK(seconds) BURN(12 * (seconds))
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
