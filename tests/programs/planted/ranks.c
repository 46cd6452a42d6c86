/* ranks CAUSE: an MPI program that loses scalability for one reason, by a known amount. Every rank says as JSON how long
   it worked and how long it was in the operation that the loss shows in, by its own clocks, and how often it combined. Work is
   in units of a million steps; `SHARED` of them are shared out evenly. */
#define _GNU_SOURCE
#include "../burn.h"
#include "../clocks.h"
#include <mpi.h>
#include <stdint.h>
#include <string.h>
#include <sys/timerfd.h>

/* What makes ranks wait is large beside what the start of MPI and the machine's noise make them wait. */
enum { SHARED = 300, AGAIN = 200, LARGE = 1800, SERIAL = 600, UNEVEN = 1800, STEPS = 10, TURNS = 40, COMBINE = 5,
       COMBINES = 20, ROUNDS = 20000, READS = 20, READ_MS = 20, SEED = 27 };

static int rank, size;
static struct clocks working, inside;
static long combined;

#define TIMED(sum, action)                                                                         \
  do {                                                                                             \
    struct clocks from_ = clocks_now();                                                            \
    action;                                                                                        \
    clocks_add(&sum, from_, clocks_now());                                                         \
  } while (0)

NOINLINE void shared(double units) { BURN(units / size); }
NOINLINE void again(void) { BURN(AGAIN); }
NOINLINE void serial(double units) { BURN(units); }
NOINLINE void uneven(double units) { BURN(units); }
NOINLINE void late_by_turns(double units) { BURN(units); }

NOINLINE void meet(void) { MPI_Barrier(MPI_COMM_WORLD); __asm__ volatile(""); }

/* Everybody does it again. */
static void replicated(void) {
  TIMED(working, (shared(SHARED), again()));
  TIMED(inside, meet());
}

/* Rank 0 alone has to do it. */
static void serial_section(void) {
  for (int step = 0; step < STEPS; step++) {
    TIMED(working, (shared(1.0 * LARGE / STEPS), rank == 0 ? serial(1.0 * SERIAL / STEPS) : (void)0));
    TIMED(inside, meet());
  }
}

/* The last rank has twice as much as each of the others. */
static void imbalance(void) {
  double units = size == 1 ? UNEVEN : 1.0 * UNEVEN / (size + 1) * (rank == size - 1 ? 2 : 1);
  for (int step = 0; step < STEPS; step++) {
    TIMED(working, uneven(units / STEPS));
    TIMED(inside, meet());
  }
}

/* A number between 0 and 1 that is the same in each run. */
static double weight(int step, int of) {
  uint64_t x = (uint64_t)(step * 64 + of + SEED) * 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return (double)((x ^ x >> 31) >> 11) / (1ull << 53);
}

/* In every step the work is shared out by chance. */
static void random_imbalance(void) {
  for (int step = 0; step < TURNS; step++) {
    double all = 0;
    for (int of = 0; of < size; of++) all += weight(step, of);
    TIMED(working, late_by_turns(1.0 * UNEVEN / TURNS * weight(step, rank) / all));
    TIMED(inside, meet());
  }
}

NOINLINE void combine(void *in, void *inout, int *length, MPI_Datatype *type) {
  (void)type;
  for (int i = 0; i < *length; i++) ((double *)inout)[i] += ((double *)in)[i];
  BURN(COMBINE);
  combined++;
}

/* The operation itself has work, the more of it the more take part. */
static void collective(void) {
  double mine = 1, sum;
  MPI_Op op;
  MPI_Op_create(combine, 1, &op);
  for (int step = 0; step < COMBINES; step++) {
    TIMED(working, shared(1.0 * SHARED / COMBINES));
    TIMED(inside, MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, op, MPI_COMM_WORLD));
  }
  MPI_Op_free(&op);
}

/* Three numbers are summed one by one. */
NOINLINE void dots(void) {
  double mine[3] = {1, 2, 3}, sum[3];
  for (int round = 0; round < ROUNDS; round++) {
    MPI_Allreduce(&mine[0], &sum[0], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&mine[1], &sum[1], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&mine[2], &sum[2], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}

static void small_reductions(void) {
  TIMED(working, shared(SHARED));
  TIMED(inside, meet());
  TIMED(inside, dots());
}

/* A device that needs its time for each block, read by everybody. */
NOINLINE void read_blocks(void) {
  struct itimerspec each = {{0, READ_MS * 1000000L}, {0, READ_MS * 1000000L}};
  int device = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  uint64_t blocks, all = 0;
  timerfd_settime(device, 0, &each, 0);
  while (all < READS && read(device, &blocks, sizeof blocks) == sizeof blocks) all += blocks;
  close(device);
}

static void input(void) {
  TIMED(working, shared(SHARED));
  TIMED(inside, read_blocks());
  meet();
}

int main(int argc, char **argv) {
  static const struct { const char *name; void (*run)(void); } causes[] = {
    {"replicated", replicated}, {"serial", serial_section}, {"imbalance", imbalance}, {"random", random_imbalance},
    {"collective", collective}, {"reductions", small_reductions}, {"input", input},
  };
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  meet();
  for (unsigned i = 0; i < sizeof causes / sizeof *causes; i++)
    if (argc > 1 && strcmp(argv[1], causes[i].name) == 0) causes[i].run();
  printf("{\"rank\":%d,\"combined\":%ld,\"working\":{", rank, combined);
  clocks_print(working);
  printf("},\"inside\":{");
  clocks_print(inside);
  printf("}}\n");
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
