/* starts HOW PROGRAM: works, has a forked child work, and has PROGRAM run by another (HOW is `child`) or becomes it by exec
   (`exec`). Says how much CPU time it and its children have used. */
#include "burn.h"
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

NOINLINE void own_work(void) { BURN(300); }
NOINLINE void child_work(void) { BURN(500); }

static long used_us(int who) {
  struct rusage used;
  getrusage(who, &used);
  return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000L + used.ru_utime.tv_usec + used.ru_stime.tv_usec;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  own_work();
  if (!fork()) { child_work(); _exit(0); }
  wait(0);
  int stays = !strcmp(argv[1], "child");
  if (!stays || !fork()) { execl(argv[2], argv[2], (char *)0); _exit(9); }
  int status;
  wait(&status);
  printf("cpu_us %ld\n", used_us(RUSAGE_SELF) + used_us(RUSAGE_CHILDREN));
  return WEXITSTATUS(status);
}
