/* deaths HOW: works for about a second, says how much CPU time that took, and ends in the way named by HOW. */
#include "burn.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int *volatile nowhere;

NOINLINE void last_work(void) { BURN(1000); }

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "return";
  if (!strcmp(how, "after-exec")) { puts("second image"); return 0; }
  last_work();
  struct timespec cpu;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
  printf("cpu_us %ld\n", cpu.tv_sec * 1000000L + cpu.tv_nsec / 1000);
  fflush(stdout);
  if (!strcmp(how, "sigkill")) kill(getpid(), SIGKILL);
  if (!strcmp(how, "segv")) *nowhere = 1;
  if (!strcmp(how, "abort")) abort();
  if (!strcmp(how, "_exit")) _exit(23);
  if (!strcmp(how, "exit_group")) syscall(SYS_exit_group, 24);
  if (!strcmp(how, "quick_exit")) quick_exit(25);
  if (!strcmp(how, "exec")) execl("/proc/self/exe", "deaths", "after-exec", (char *)0);
  return 0;
}
