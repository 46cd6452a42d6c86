/* What a pair of calls costs, in nanoseconds: the median of many rounds. Says it on standard output. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif
#include "falloff_sections.h"

enum { ROUNDS = 301, CALLS = 200 };

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(const char *name, void (*pair)(void))
{
    double rounds[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        double begin = now_ns();
        for (int call = 0; call < CALLS; call++)
            pair();
        rounds[round] = (now_ns() - begin) / CALLS / 2;
    }
    qsort(rounds, ROUNDS, sizeof *rounds, ascending);
    printf("%s %.1f\n", name, rounds[ROUNDS / 2]);
}

static void plain(void)
{
    falloff_section_enter("CONVOLVE");
    falloff_section_exit("CONVOLVE");
}

static void clocks(void)
{
    now_ns();
    now_ns();
}

#ifdef WITH_MPI
static void collective(void)
{
    MPIX_Section_enter(MPI_COMM_WORLD, "CONVOLVE");
    MPIX_Section_exit(MPI_COMM_WORLD, "CONVOLVE");
}

static void control(void)
{
    MPI_Pcontrol(1, "CONVOLVE");
    MPI_Pcontrol(-1, "CONVOLVE");
}
#endif

int main(int argc, char **argv)
{
    (void)argc;
    (void)argv;
#ifdef WITH_MPI
    MPI_Init(&argc, &argv);
#endif
    report("clock", clocks);
    report("falloff_section", plain);
#ifdef WITH_MPI
    report("MPIX_Section", collective);
    report("MPI_Pcontrol", control);
    MPI_Finalize();
#endif
    return 0;
}
