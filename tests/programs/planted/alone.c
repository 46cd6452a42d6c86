/* alone CAUSE: what takes no MPI. `lock`: the threads of OMP_NUM_THREADS do pieces of work that are mostly under one lock;
   `share`: processes share work out evenly, and processors if there are too few. Each thread says as JSON how long it worked
   and waited by its own clocks. Work is in units of a million steps. */
#define _GNU_SOURCE
#include "../burn.h"
#include "../clocks.h"
#include <pthread.h>
#include <string.h>

enum { PIECES = 200, UNDER_LOCK = 2, OUTSIDE = 1, SHARED = 400, MOST = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, output = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void say(long number, struct clocks working, struct clocks inside) {
  pthread_mutex_lock(&output);
  printf("{\"rank\":%ld,\"combined\":0,\"working\":{", number);
  clocks_print(working);
  printf("},\"inside\":{");
  clocks_print(inside);
  printf("}}\n");
  fflush(stdout);
  pthread_mutex_unlock(&output);
}

NOINLINE void under_lock(void) { BURN(UNDER_LOCK); }
NOINLINE void outside(void) { BURN(OUTSIDE); }

NOINLINE void *pieces(void *number) {
  struct clocks working = {0}, inside = {0};
  for (int piece = (int)(long)number; piece < PIECES; piece += count) {
    struct clocks from = clocks_now();
    pthread_mutex_lock(&lock);
    struct clocks locked = clocks_now();
    under_lock();
    pthread_mutex_unlock(&lock);
    outside();
    clocks_add(&inside, from, locked);
    clocks_add(&working, locked, clocks_now());
  }
  say((long)number, working, inside);
  return 0;
}

static void locks(void) {
  pthread_t threads[MOST];
  for (long number = 1; number < count; number++) pthread_create(&threads[number], 0, pieces, (void *)number);
  pieces(0);
  for (long number = 1; number < count; number++) pthread_join(threads[number], 0);
}

NOINLINE void share(double units) { BURN(units); }

int main(int argc, char **argv) {
  const char *threads = getenv("OMP_NUM_THREADS"), *number = getenv("PMI_RANK"), *size = getenv("PMI_SIZE");
  count = threads && atoi(threads) > 0 && atoi(threads) <= MOST ? atoi(threads) : 1;
  if (argc > 1 && strcmp(argv[1], "lock") == 0) {
    locks();
  } else {
    struct clocks working = {0}, none = {0}, from = clocks_now();
    share(1.0 * SHARED / (size ? atoi(size) : 1));
    clocks_add(&working, from, clocks_now());
    say(number ? atoi(number) : 0, working, none);
  }
  return 0;
}
