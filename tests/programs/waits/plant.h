/* Waits of known length. Ranks meet, one of them is late on purpose, and who has to wait for it says so at the end, one line for
 * each: rank, pattern, function and milliseconds, with tabs between. */
#ifndef PLANT_H
#define PLANT_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 5 };

static int rank, size;

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

static inline long long now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static inline void sleep_until(long long ns)
{
    struct timespec t = {ns / 1000000000LL, ns % 1000000000LL};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != 0)
        ;
}

/* Away for so long, whatever else the machine does. */
static inline void late(int milliseconds)
{
    sleep_until(now_ns() + milliseconds * 1000000LL);
}

/* From here on nobody is ahead of the others, however many ranks share a processor: all of a host wake at the same time. */
static inline void meet(void)
{
    long long mine = now_ns(), *all = calloc(size, sizeof *all), last = mine;
    if (!all)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Allgather(&mine, 1, MPI_LONG_LONG, all, 1, MPI_LONG_LONG, MPI_COMM_WORLD);
    for (int other = 0; other < size; other++)
        last = all[other] > last ? all[other] : last;
    free(all);
    sleep_until(last + 50 * 1000000LL);
}

/* This rank had to wait in a function for so long, in all rounds together. */
static inline void truth(const char *pattern, const char *function, int milliseconds)
{
    printf("%d\t%s\t%s\t%d\n", rank, pattern, function, milliseconds);
    fflush(stdout);
}

#endif
