/* Some work in one named function, then a line and status 7. */
#include "burn.h"
#include <stdio.h>

NOINLINE void plain_work(void) { BURN(300); }

int main(void) {
  plain_work();
  puts("done");
  return 7;
}
