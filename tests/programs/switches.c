/* switches ROUNDS: two processes on one processor pass a byte to and fro over pipes, which is two context switches a
   round and, with the little work between, about 100,000 a second; says as JSON how long the first one took by its own clocks. */
#define _GNU_SOURCE
#include "burn.h"
#include "clocks.h"
#include <sched.h>
#include <sys/wait.h>

static int there[2], back[2];

NOINLINE void serve(long rounds) {
  char c;
  for (long i = 0; i < rounds; i++) { BURN(0.006); if (write(there[1], "x", 1) != 1 || read(back[0], &c, 1) != 1) exit(3); }
}

NOINLINE void answer(long rounds) {
  char c;
  for (long i = 0; i < rounds; i++) { BURN(0.006); if (read(there[0], &c, 1) != 1 || write(back[1], &c, 1) != 1) exit(4); }
}

int main(int argc, char **argv) {
  long rounds = argc > 1 ? atol(argv[1]) : 50000;
  cpu_set_t allowed, one;
  sched_getaffinity(0, sizeof allowed, &allowed);
  int last = CPU_SETSIZE - 1;
  while (!CPU_ISSET(last, &allowed)) last--;
  CPU_ZERO(&one);
  CPU_SET(last, &one);
  if (sched_setaffinity(0, sizeof one, &one) || pipe(there) || pipe(back)) return 2;
  pid_t child = fork();
  if (child == 0) { answer(rounds); _exit(0); }
  struct clocks from = clocks_now(), sum = {0, 0, 0};
  serve(rounds);
  clocks_add(&sum, from, clocks_now());
  int status;
  waitpid(child, &status, 0);
  printf("{\"thread\":%ld,\"rounds\":%ld,", (long)getpid(), rounds);
  clocks_print(sum);
  puts("}");
  return status != 0;
}
