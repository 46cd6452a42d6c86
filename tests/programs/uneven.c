/* Work of which `common` is the same in every rank and `uneven` three times as much in rank 1, while rank 0 waits. */
#include "burn.h"
#include <stdlib.h>
#include <unistd.h>

NOINLINE void common(void) {
  BURN(60);
}

NOINLINE void uneven(int rank) {
  BURN(60 + 120 * rank);
}

NOINLINE void waits(int rank) {
  if (rank == 0)
    usleep(200000);
  __asm__ volatile("");
}

int main(void) {
  const char *text = getenv("PMI_RANK");
  int rank = text ? atoi(text) : 0;
  common();
  uneven(rank);
  waits(rank);
  return 0;
}
