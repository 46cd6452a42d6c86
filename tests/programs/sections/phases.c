/* Phases of a known length on each rank, entered before, within and after MPI, on two communicators, nested, and twice
 * wrongly. Writes its own times of SOLVE and HALO to the file timers.RANK. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <time.h>
#include "falloff_sections.h"

enum { STEPS = 20 };

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

/* Computes for a time, with a result that nobody can leave out. */
__attribute__((noinline)) double compute(double seconds)
{
    volatile double sum = 0;
    for (double end = now_s() + seconds; now_s() < end;)
        for (int i = 1; i < 1000; i++)
            sum += 1.0 / i;
    return sum;
}

int main(int argc, char **argv)
{
    int rank, size, left;
    MPIX_Section_enter(MPI_COMM_WORLD, "BEFORE");
    compute(0.002);
    MPIX_Section_exit(MPI_COMM_WORLD, "BEFORE");

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double solve = 0, halo = 0;
    for (int step = 0; step < STEPS; step++) {
        MPIX_Section_enter(MPI_COMM_WORLD, "SOLVE");
        double begin = now_s();
        compute(0.004 * (rank + 1));
        MPIX_Section_enter(MPI_COMM_WORLD, "HALO");
        double inner = now_s();
        MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &left, 1, MPI_INT, (rank + size - 1) % size, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        halo += now_s() - inner;
        MPIX_Section_exit(MPI_COMM_WORLD, "HALO");
        solve += now_s() - begin;
        MPIX_Section_exit(MPI_COMM_WORLD, "SOLVE");
    }

    /* Communicators of half the ranks, made and freed, so that handles come again. */
    for (int round = 0; round < 4; round++) {
        MPI_Comm half;
        MPI_Comm_split(MPI_COMM_WORLD, (rank + round) % 2, rank, &half);
        MPIX_Section_enter(half, "HALF");
        MPI_Barrier(half);
        MPIX_Section_exit(half, "HALF");
        MPI_Comm_free(&half);
    }

    /* One that is closed by the exit of the one around it, and an exit of nothing. */
    MPIX_Section_enter(MPI_COMM_WORLD, "OUTER");
    MPIX_Section_enter(MPI_COMM_WORLD, "FORGOTTEN");
    MPIX_Section_exit(MPI_COMM_WORLD, "OUTER");
    MPIX_Section_exit(MPI_COMM_WORLD, "NEVER ENTERED");

    MPI_Pcontrol(1, "CONTROLLED");
    MPI_Pcontrol(0);
    MPI_Pcontrol(-1, "CONTROLLED");

    char name[32];
    snprintf(name, sizeof name, "timers.%d", rank);
    FILE *file = fopen(name, "w");
    if (!file)
        return 1;
    fprintf(file, "%.9f %.9f\n", solve, halo);
    fclose(file);
    printf("rank %d of %d has %d on its left\n", rank, size, left);
    fflush(stdout);
    MPI_Finalize();

    MPIX_Section_enter(MPI_COMM_WORLD, "AFTER");
    MPIX_Section_exit(MPI_COMM_WORLD, "AFTER");
    return 0;
}
