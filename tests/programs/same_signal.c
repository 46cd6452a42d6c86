/* same_signal: uses the signal that the sampler uses, with a timer and a queued value of its own; with the argument
   `default` it sends it to itself without a handler and must die of it. */
#define _GNU_SOURCE
#include "burn.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SIGNAL = 61 };
static volatile sig_atomic_t from_timer, from_queue;

static void on_signal(int number, siginfo_t *info, void *context) {
  (void)context;
  if (number == SIGNAL && info->si_code == SI_TIMER && info->si_value.sival_int == 7) from_timer++;
  if (number == SIGNAL && info->si_code == SI_QUEUE && info->si_value.sival_int == 8) from_queue++;
}

NOINLINE void own_work(void) { BURN(300); }

int main(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "default")) { own_work(); raise(SIGNAL); puts("still here"); return 1; }
  struct sigaction action, before, now;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGNAL, &action, &before);
  sigaction(SIGNAL, 0, &now);
  struct sigevent event;
  memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGNAL;
  event.sigev_value.sival_int = 7;
  timer_t timer;
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  struct itimerspec every = {{0, 10000000}, {0, 10000000}};
  timer_settime(timer, 0, &every, 0);
  union sigval value = {.sival_int = 8};
  sigqueue(getpid(), SIGNAL, value);
  own_work();
  printf("fresh %d kept %d timer %d queue %d\n", before.sa_handler == SIG_DFL, now.sa_sigaction == on_signal,
         from_timer > 5, from_queue);
  return 0;
}
