/* storm ROUNDS: in every round, eight threads and four processes begin, work a little and end at once, and
   every second process starts threads of its own. Says how many of them gave the right answer. */
#include "burn.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

NOINLINE void gust(void) { BURN(0.4); }
static void *thread(void *answer) { gust(); return answer; }

static int threads(int count) {
  pthread_t t[8];
  int right = 0;
  for (long i = 0; i < count; i++) pthread_create(&t[i], 0, thread, (void *)(i + 1));
  for (long i = 0; i < count; i++) {
    void *answer = 0;
    pthread_join(t[i], &answer);
    right += (long)answer == i + 1;
  }
  return right;
}

int main(int argc, char **argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 10, right = 0;
  for (int round = 0; round < rounds; round++) {
    pid_t child[4];
    for (int i = 0; i < 4; i++) {
      child[i] = fork();
      if (child[i] == 0) { gust(); _exit(i % 2 ? threads(2) : 2); }
    }
    right += threads(8);
    for (int i = 0; i < 4; i++) {
      int status = -1;
      waitpid(child[i], &status, 0);
      right += WIFEXITED(status) && WEXITSTATUS(status) == 2;
    }
  }
  printf("right %d of %d\n", right, rounds * 12);
  return right != rounds * 12;
}
