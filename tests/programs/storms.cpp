// storms KIND SECONDS: two threads do one kind of thing as fast as they can, check its results, and work a little in
// between. Says whether all was right and how often it was done. KIND is memory, threads, forks, exceptions or signals.
#include "burn.h"
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

static std::atomic<long> done{0}, wrong{0};
static thread_local volatile sig_atomic_t got;

NOINLINE static void gust() { BURN(0.01); }

static void memory(unsigned turn) {
  static thread_local std::vector<std::string> kept(64);
  std::string &place = kept[turn % 64];
  if (!place.empty() && (place.front() != place.back() || place.size() < 16)) wrong++;
  place = std::string(16 + turn * 2654435761u % 20000, static_cast<char>('a' + turn % 26));
  void *block = std::malloc(turn % 16 ? 256 : 400000);
  std::memset(block, 7, 200);
  std::free(block);
}

static void threads(unsigned turn) {
  unsigned answer = 0;
  std::thread thread([&] { gust(); answer = turn + 1; });
  thread.join();
  if (answer != turn + 1) wrong++;
}

static void forks(unsigned turn) {
  int wanted = static_cast<int>(turn % 100), status = -1;
  pid_t child = fork();
  if (child == 0) { gust(); _exit(wanted); }
  pid_t ended;
  while ((ended = waitpid(child, &status, 0)) < 0 && errno == EINTR) wrong++;
  if (ended != child || !WIFEXITED(status) || WEXITSTATUS(status) != wanted) wrong++;
}

NOINLINE static int thrower(int depth, int value) {
  if (depth == 0) throw value;
  int above = thrower(depth - 1, value) + 1;
  __asm__ volatile("" : "+r"(above));
  return above;
}

static void exceptions(unsigned turn) {
  int caught = -1;
  try { thrower(static_cast<int>(turn % 30), static_cast<int>(turn)); } catch (int value) { caught = value; }
  if (caught != static_cast<int>(turn)) wrong++;
}

static void on_signal(int) { got = got + 1; }

static void signals(unsigned) {
  int before = got;
  pthread_kill(pthread_self(), SIGUSR1);
  if (got != before + 1) wrong++;
}

int main(int argc, char **argv) {
  const struct { const char *name; void (*act)(unsigned); } kinds[] = {
      {"memory", memory}, {"threads", threads}, {"forks", forks}, {"exceptions", exceptions}, {"signals", signals}};
  void (*act)(unsigned) = nullptr;
  for (auto &kind : kinds) if (argc > 1 && !std::strcmp(kind.name, argv[1])) act = kind.act;
  if (!act) return 2;
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigaction(SIGUSR1, &action, nullptr);
  const time_t end = time(nullptr) + (argc > 2 ? std::atol(argv[2]) : 2);
  auto storm = [&] { for (unsigned turn = 0; time(nullptr) < end; turn++) { act(turn); gust(); done++; } };
  std::thread other(storm);
  storm();
  other.join();
  std::printf("%s\n", wrong ? "wrong" : done > 100 ? "all right" : "too few");
  return wrong != 0;
}
