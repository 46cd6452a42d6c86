/* waits [KIND...]: waits in every way a thread can wait (or in those named), each kind in a function of its own and
   for known times, and says as JSON how long it waited by its own clocks, how long after it was due each wait ended by itself,
   and how often a wait was interrupted or ended before that. */
#define _GNU_SOURCE
/* Each function that waits stays on the call path while it waits. */
#pragma GCC optimize("no-optimize-sibling-calls")
#include "burn.h"
#include "clocks.h"
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

enum { ROUNDS = 4 };

static int pipe_fd[2], full_fd[2], pair[2], timed_pair[2], listener, poller, lock_fd, held_fd, file_fd, queue, sems;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t sem;
static atomic_int word, flag;
static sigset_t usr1;
static pthread_t main_thread, waker;
static pid_t child;
static struct sockaddr_un address = {.sun_family = AF_UNIX};

static struct timespec span(long ns) { return (struct timespec){ns / 1000000000L, ns % 1000000000L}; }
static struct timespec until(clockid_t clock, long ns) { return span(clock_ns(clock) + ns); }
static int ok(int error) { errno = error; return error ? -1 : 0; }

/* Waits that end by time. */
NOINLINE int wait_nanosleep(long ns) { struct timespec t = span(ns); return nanosleep(&t, 0); }
NOINLINE int wait_usleep(long ns) { return usleep(ns / 1000); }
NOINLINE int wait_clock_nanosleep(long ns) {
  struct timespec t = until(CLOCK_MONOTONIC, ns);
  return ok(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, 0));
}
NOINLINE int wait_poll(long ns) { return poll(0, 0, ns / 1000000); }
NOINLINE int wait_ppoll(long ns) { struct timespec t = span(ns); return ppoll(0, 0, &t, 0); }
NOINLINE int wait_select(long ns) { struct timeval t = {0, ns / 1000}; return select(0, 0, 0, 0, &t); }
NOINLINE int wait_pselect(long ns) { struct timespec t = span(ns); return pselect(0, 0, 0, 0, &t, 0); }
NOINLINE int wait_epoll(long ns) { struct epoll_event event; return epoll_wait(poller, &event, 1, ns / 1000000); }
NOINLINE int wait_cond_timed(long ns) {
  struct timespec t = until(CLOCK_REALTIME, ns);
  pthread_mutex_lock(&guard);
  int error = pthread_cond_timedwait(&cond, &guard, &t);
  pthread_mutex_unlock(&guard);
  return ok(error == ETIMEDOUT ? 0 : error ? error : EAGAIN);
}
NOINLINE int wait_sem_timed(long ns) {
  struct timespec t = until(CLOCK_REALTIME, ns);
  return sem_timedwait(&sem, &t) && errno == ETIMEDOUT ? 0 : -1;
}
NOINLINE int wait_sigtimedwait(long ns) {
  struct timespec t = span(ns);
  return sigtimedwait(&usr1, 0, &t) < 0 && errno == EAGAIN ? 0 : -1;
}
NOINLINE int wait_recv_timed(long ns) {
  struct timeval t = {0, ns / 1000};
  char c;
  setsockopt(timed_pair[0], SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t);
  return recv(timed_pair[0], &c, 1, 0) < 0 && errno == EAGAIN ? 0 : -1;
}

/* Waits that another thread or process ends. */
NOINLINE int wait_poll_woken(long ns) {
  struct pollfd ready = {pipe_fd[0], POLLIN, 0};
  char c;
  (void)ns;
  return poll(&ready, 1, -1) == 1 && read(pipe_fd[0], &c, 1) == 1 ? 0 : -1;
}
NOINLINE int wait_pipe(long ns) { char c; (void)ns; return read(pipe_fd[0], &c, 1) == 1 ? 0 : -1; }
NOINLINE int wait_full_pipe(long ns) { (void)ns; return write(full_fd[1], "x", 1) == 1 ? 0 : -1; }
NOINLINE int wait_recv(long ns) { char c; (void)ns; return recv(pair[0], &c, 1, 0) == 1 ? 0 : -1; }
NOINLINE int wait_accept(long ns) {
  (void)ns;
  int fd = accept(listener, 0, 0);
  return fd < 0 ? -1 : close(fd);
}
NOINLINE int wait_cond(long ns) {
  (void)ns;
  pthread_mutex_lock(&guard);
  while (!flag) pthread_cond_wait(&cond, &guard);
  flag = 0;
  return ok(pthread_mutex_unlock(&guard));
}
NOINLINE int wait_mutex(long ns) { (void)ns; return ok(pthread_mutex_lock(&mutex)) | ok(pthread_mutex_unlock(&mutex)); }
NOINLINE int wait_sem(long ns) { (void)ns; return sem_wait(&sem); }
NOINLINE int wait_futex(long ns) {
  (void)ns;
  long got = word == 0 ? syscall(SYS_futex, &word, FUTEX_WAIT, 0, 0, 0, 0) : 0;
  word = 0;
  return got;
}
NOINLINE int wait_child(long ns) { int status; (void)ns; return waitpid(child, &status, 0) == child ? 0 : -1; }
NOINLINE int wait_join(long ns) { (void)ns; return ok(pthread_join(waker, 0)); }
NOINLINE int wait_flock(long ns) { (void)ns; return flock(lock_fd, LOCK_EX) | flock(lock_fd, LOCK_UN); }
NOINLINE int wait_msgrcv(long ns) { long m[2]; (void)ns; return msgrcv(queue, m, sizeof(long), 1, 0) < 0 ? -1 : 0; }
NOINLINE int wait_semop(long ns) { struct sembuf take = {0, -1, 0}; (void)ns; return semop(sems, &take, 1); }
NOINLINE int wait_sigwait(long ns) { int number; (void)ns; return ok(sigwait(&usr1, &number)); }
NOINLINE int wait_fsync(long ns) { (void)ns; return fsync(file_fd); }

static void sent(long done) { if (done < 0) perror("waker"), exit(3); }
static void wake_pipe(void) { sent(write(pipe_fd[1], "x", 1)); }
static void wake_full_pipe(void) { char some[4096]; sent(read(full_fd[0], some, sizeof some)); }
static void wake_recv(void) { sent(send(pair[1], "x", 1, 0)); }
static void wake_accept(void) {
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  sent(connect(fd, (struct sockaddr *)&address, sizeof address));
  close(fd);
}
static void wake_cond(void) { pthread_mutex_lock(&guard); flag = 1; pthread_cond_signal(&cond); pthread_mutex_unlock(&guard); }
static void hold_mutex(void) { pthread_mutex_lock(&mutex); }
static void wake_mutex(void) { pthread_mutex_unlock(&mutex); }
static void wake_sem(void) { sem_post(&sem); }
static void wake_futex(void) { word = 1; sent(syscall(SYS_futex, &word, FUTEX_WAKE, 1, 0, 0, 0)); }
static void wake_nothing(void) {}
static void hold_flock(void) { sent(flock(held_fd, LOCK_EX)); }
static void wake_flock(void) { sent(flock(held_fd, LOCK_UN)); }
static void wake_msgrcv(void) { long m[2] = {1, 2}; sent(msgsnd(queue, m, sizeof(long), 0)); }
static void wake_semop(void) { struct sembuf give = {0, 1, 0}; sent(semop(sems, &give, 1)); }
static void wake_sigwait(void) { pthread_kill(main_thread, SIGUSR1); }

static void fill_pipe(long ns) {
  char some[4096] = "";
  (void)ns;
  fcntl(full_fd[1], F_SETFL, O_NONBLOCK);
  while (write(full_fd[1], some, sizeof some) > 0 || write(full_fd[1], some, 1) > 0) {}
  fcntl(full_fd[1], F_SETFL, 0);
}
static void start_child(long ns) {
  struct timespec t = span(ns);
  child = fork();
  if (child == 0) { nanosleep(&t, 0); _exit(0); }
}
static void fill_file(long ns) {
  char some[65536] = "";
  for (long i = 0; i < 16; i++) { some[0] = (char)(ns + i); sent(pwrite(file_fd, some, sizeof some, i * 65536)); }
}

/* `ready` prepares in the waiting thread; a waker first holds, then sleeps, then wakes. */
static const struct kind {
  const char *name;
  int (*wait)(long ns);
  void (*wake)(void), (*hold)(void), (*ready)(long ns);
} KINDS[] = {
#define BY_TIME(name) {"wait_" #name, wait_##name, 0, 0, 0}
    BY_TIME(nanosleep), BY_TIME(usleep), BY_TIME(clock_nanosleep), BY_TIME(poll), BY_TIME(ppoll), BY_TIME(select),
    BY_TIME(pselect), BY_TIME(epoll), BY_TIME(cond_timed), BY_TIME(sem_timed), BY_TIME(sigtimedwait),
    BY_TIME(recv_timed),
    {"wait_poll_woken", wait_poll_woken, wake_pipe, 0, 0},
    {"wait_pipe", wait_pipe, wake_pipe, 0, 0},
    {"wait_full_pipe", wait_full_pipe, wake_full_pipe, 0, fill_pipe},
    {"wait_recv", wait_recv, wake_recv, 0, 0},
    {"wait_accept", wait_accept, wake_accept, 0, 0},
    {"wait_cond", wait_cond, wake_cond, 0, 0},
    {"wait_mutex", wait_mutex, wake_mutex, hold_mutex, 0},
    {"wait_sem", wait_sem, wake_sem, 0, 0},
    {"wait_futex", wait_futex, wake_futex, 0, 0},
    {"wait_child", wait_child, 0, 0, start_child},
    {"wait_join", wait_join, wake_nothing, 0, 0},
    {"wait_flock", wait_flock, wake_flock, hold_flock, 0},
    {"wait_msgrcv", wait_msgrcv, wake_msgrcv, 0, 0},
    {"wait_semop", wait_semop, wake_semop, 0, 0},
    {"wait_sigwait", wait_sigwait, wake_sigwait, 0, 0},
    {"wait_fsync", wait_fsync, 0, 0, fill_file},
};

static const struct kind *current;
static long current_ns;
static atomic_int holding;
static long waking_at, woken_at;

static void *wake(void *argument) {
  if (current->hold) current->hold();
  holding = 1;
  struct timespec t = span(current_ns);
  nanosleep(&t, 0);
  waking_at = clock_ns(CLOCK_MONOTONIC);
  current->wake();
  woken_at = clock_ns(CLOCK_MONOTONIC);
  return argument;
}

static void measure(const struct kind *kind, int first) {
  struct clocks sum = {0, 0, 0};
  int interrupted = 0, failed = 0, cut = 0;
  long asked = 0, late = 0;
  for (int round = 0; round < ROUNDS; round++) {
    long ns = (20 + 7 * round) * 1000000L;
    current = kind;
    current_ns = ns;
    holding = 0;
    if (kind->ready) kind->ready(ns);
    if (kind->wake) {
      pthread_create(&waker, 0, wake, 0);
      while (!holding) sched_yield();
    }
    struct clocks from = clocks_now();
    errno = 0;
    int failure = kind->wait(ns);
    int error = errno;
    struct clocks to = clocks_now();
    if (failure && error == EINTR) interrupted++;
    else if (failure) failed++, fprintf(stderr, "%s: %s\n", kind->name, strerror(error));
    if (kind->wake && kind->wait != wait_join) pthread_join(waker, 0);
    /* When it could end, and when it should have ended; of a child and of the disk's work neither is known. */
    int by_time = !kind->wake && !kind->ready;
    long can = by_time ? from.wall + ns : kind->wake ? waking_at : to.wall;
    long due = by_time ? can : kind->wake ? woken_at : to.wall;
    if (to.wall < can) cut++;
    /* Runnable, but not running, is the work of others. */
    long others = to.delay - from.delay;
    late += to.wall - due > others ? to.wall - due - others : 0;
    asked += by_time ? ns : 0;
    clocks_add(&sum, from, to);
  }
  printf("%s\n {\"path\":\"%s\",\"waits\":%d,\"asked_ns\":%ld,\"interrupted\":%d,\"failed\":%d,\"cut\":%d,\"late_ns\":%ld,", first ? "" : ",",
         kind->name, ROUNDS, asked, interrupted, failed, cut, late);
  clocks_print(sum);
  printf("}");
}

static void prepare(void) {
  snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "falloff-waits-%d", (int)getpid());
  listener = socket(AF_UNIX, SOCK_STREAM, 0);
  poller = epoll_create1(0);
  lock_fd = open("waits.lock", O_CREAT | O_RDWR, 0600);
  held_fd = open("waits.lock", O_RDWR);
  file_fd = open("waits.file", O_CREAT | O_RDWR, 0600);
  queue = msgget(IPC_PRIVATE, 0600);
  sems = semget(IPC_PRIVATE, 1, 0600);
  int bad = pipe(pipe_fd) | pipe(full_fd) | socketpair(AF_UNIX, SOCK_STREAM, 0, pair) |
            socketpair(AF_UNIX, SOCK_STREAM, 0, timed_pair) | bind(listener, (struct sockaddr *)&address, sizeof address) |
            listen(listener, 4) | sem_init(&sem, 0, 0);
  if (bad || poller < 0 || held_fd < 0 || file_fd < 0 || queue < 0 || sems < 0) perror("waits"), exit(2);
  sigemptyset(&usr1);
  sigaddset(&usr1, SIGUSR1);
  sigprocmask(SIG_BLOCK, &usr1, 0);
  main_thread = pthread_self();
}

static int wanted(const char *name, int argc, char **argv) {
  for (int i = 1; i < argc; i++) if (!strcmp(argv[i], name)) return 1;
  return argc == 1;
}

int main(int argc, char **argv) {
  struct clocks start = clocks_now(), whole = {0, 0, 0};
  prepare();
  printf("{\"thread\":%ld,\"paths\":[", (long)syscall(SYS_gettid));
  for (unsigned i = 0, told = 0; i < sizeof KINDS / sizeof *KINDS; i++)
    if (wanted(KINDS[i].name, argc, argv)) measure(&KINDS[i], told++ == 0);
  msgctl(queue, IPC_RMID, 0);
  semctl(sems, 0, IPC_RMID);
  unlink("waits.lock");
  unlink("waits.file");
  clocks_add(&whole, start, clocks_now());
  printf("],\"life_delay_ns\":%ld,", run_delay_ns());
  clocks_print(whole);
  puts("}");
  return 0;
}
