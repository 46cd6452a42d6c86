/* blocks ROUNDS: takes, fills and frees blocks on both sides of the C library's thresholds for mappings of their own and
 * for giving memory back, and says what the loop took. A profiler that moves a threshold changes these figures. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static double seconds(struct timeval t) { return t.tv_sec + t.tv_usec / 1e6; }

int main(int argc, char **argv) {
  static const size_t sizes[] = {64 << 10, 96 << 10, 160 << 10, 400 << 10, 1 << 20, 3 << 20, 36 << 20};
  enum { KINDS = sizeof sizes / sizeof *sizes };
  long rounds = argc > 1 ? atol(argv[1]) : 100, sum = 0;
  struct rusage from, to;
  getrusage(RUSAGE_SELF, &from);
  for (long i = 0; i < rounds; i++) {
    char *blocks[KINDS];
    for (int k = 0; k < KINDS; k++) {
      blocks[k] = malloc(sizes[k]);
      if (!blocks[k]) return 1;
      memset(blocks[k], (int)i, sizes[k]);
      sum += blocks[k][sizes[k] / 2];
    }
    for (int k = 0; k < KINDS; k++) free(blocks[k]);
  }
  getrusage(RUSAGE_SELF, &to);
  printf("BLOCKS user %.6f system %.6f faults %ld sum %ld\n", seconds(to.ru_utime) - seconds(from.ru_utime),
         seconds(to.ru_stime) - seconds(from.ru_stime), to.ru_minflt - from.ru_minflt, sum);
  return 0;
}
