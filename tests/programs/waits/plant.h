/* Waits that are planted, and measured by the program itself. Ranks meet, one of them is late on purpose, and how long others waited
 * for it follows from when each entered and left its call, by clocks read around the calls. Each says so at the end, a line for each
 * kind of wait: rank, pattern, function that waits, call of MPI, milliseconds, and the rank and function that were late on purpose, or
 * two dashes; with tabs between.
 *
 * What is planted lies in a function of its own, from its meeting to its calls, so that its call path is no other's. */
#ifndef PLANT_H
#define PLANT_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 5, TRUTHS = 16 };

/* Not inlined, so that call paths have them. */
#define PHASE __attribute__((noinline)) static void

static int rank, size;

/* When this rank entered and left a call, ns. */
struct span {
    long long enter, leave;
};

/* Waits of this rank: of a pattern, in a call of a function, and who was late on purpose. */
static struct {
    const char *pattern, *function, *call, *late;
    int late_rank;
    long long ns;
} truths[TRUTHS];

static inline long long now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Makes a call and notes when. */
#define TIMED(span, call) \
    do { \
        (span).enter = now_ns(); \
        call; \
        (span).leave = now_ns(); \
    } while (0)

/* This rank could not leave a call before the moment `until`, because of somebody who was late on purpose, or of nobody in
 * particular (`late` null). */
static inline void waited(const char *pattern, const char *function, const char *call, struct span own, long long until, int late_rank,
                          const char *late)
{
    long long end = until < own.leave ? until : own.leave, ns = end > own.enter ? end - own.enter : 0;
    for (int at = 0; at < TRUTHS; at++) {
        if (!truths[at].pattern) {
            truths[at].pattern = pattern;
            truths[at].function = function;
            truths[at].call = call;
            truths[at].late = late;
            truths[at].late_rank = late_rank;
        }
        if (!strcmp(truths[at].pattern, pattern) && !strcmp(truths[at].function, function) && !strcmp(truths[at].call, call)) {
            truths[at].ns += ns;
            return;
        }
    }
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static inline void begin(int *argc, char ***argv, int least)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < least) {
        fprintf(stderr, "failed to plant waits: %d ranks, and %d are needed\n", size, least);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
}

static inline void end(void)
{
    for (int at = 0; at < TRUTHS && truths[at].pattern; at++) {
        char late[8] = "-";
        if (truths[at].late)
            snprintf(late, sizeof late, "%d", truths[at].late_rank);
        printf("%d\t%s\t%s\t%s\t%.6f\t%s\t%s\n", rank, truths[at].pattern, truths[at].function, truths[at].call, truths[at].ns / 1e6,
               late, truths[at].late ? truths[at].late : "-");
    }
    fflush(stdout);
    MPI_Finalize();
}

static inline void sleep_until(long long ns)
{
    struct timespec t = {ns / 1000000000LL, ns % 1000000000LL};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != 0)
        ;
}

/* Away for so long, whatever else the machine does. */
static inline void away(int milliseconds)
{
    sleep_until(now_ns() + milliseconds * 1000000LL);
}

/* When each rank entered the call that is judged, or whatever else each has to tell. Whoever comes here early waits as well. */
__attribute__((noinline)) static const long long *all_of(long long mine)
{
    static long long *pairs, *told;
    struct span own = {now_ns(), 0};
    long long pair[2] = {mine, own.enter}, last = 0;
    pairs = realloc(pairs, 2 * size * sizeof *pairs);
    told = realloc(told, (size + 1) * sizeof *told);
    if (!pairs || !told)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Allgather(pair, 2, MPI_LONG_LONG, pairs, 2, MPI_LONG_LONG, MPI_COMM_WORLD);
    own.leave = now_ns();
    for (int other = 0; other < size; other++) {
        told[other] = pairs[2 * other];
        last = pairs[2 * other + 1] > last ? pairs[2 * other + 1] : last;
    }
    told[size] = last;
    waited("wait at n-to-n", "all_of", "MPI_Allgather", own, last, 0, NULL);
    return told;
}

/* The last of the ranks from one to before another. */
static inline long long latest(const long long *of, int from, int to)
{
    long long last = 0;
    for (int other = from; other < to; other++)
        last = of[other] > last ? of[other] : last;
    return last;
}

/* From here on nobody is ahead of the others, however many ranks share a processor: all of a host wake at the same time. */
static inline void meet(void)
{
    sleep_until(all_of(0)[size] + 50 * 1000000LL);
}

#endif
