/* Two versions of a program: with -DAFTER one function takes twice as long, one has moved, one is gone, one is new. */
#include "burn.h"

NOINLINE void kernel(void) {
#ifdef AFTER
  BURN(600);
#else
  BURN(300);
#endif
}

#ifdef AFTER

/* Lines that move what is below. */

NOINLINE void fresh(void) { BURN(100); }
#else
NOINLINE void gone(void) { BURN(100); }
#endif

NOINLINE void moved(void) { BURN(200); }

int main(void) {
  kernel();
#ifdef AFTER
  fresh();
#else
  gone();
#endif
  moved();
  return 0;
}
