/* space MEGABYTES: takes this much memory, touches a little of it, and works. */
#include "burn.h"
#include <stdio.h>
#include <stdlib.h>

NOINLINE void roomy_work(void) { BURN(300); }

int main(int argc, char **argv) {
  char *memory = malloc((argc > 1 ? atol(argv[1]) : 1) << 20);
  if (!memory) { puts("no room"); return 1; }
  memory[0] = 1;
  roomy_work();
  puts("room");
  return 0;
}
