/* Says when it is ready, works until SIGTERM comes, then says so and exits with status 5. */
#include "burn.h"
#include <signal.h>
#include <stdio.h>

static volatile sig_atomic_t asked;
static void on_term(int n) { asked = n; }

NOINLINE void until_asked(void) {
  while (!asked) BURN(1);
}

int main(void) {
  signal(SIGTERM, on_term);
  puts("ready");
  fflush(stdout);
  until_asked();
  printf("asked %d\n", (int)asked);
  return 5;
}
