/* MPI ranks of OpenMP threads whose sections want opposite numbers of threads. SHARED has requests to wait for, which the ranks
 * and their threads share out. CROWDED makes every thread wait for the one thing that all threads of a rank need. Only main
 * threads mark. What is planted is waiting, so that the right answer does not depend on the processors of the machine:
 * SHARED takes 2400/(ranks * threads) ms on each rank, CROWDED 150 * threads ms. */
#define _GNU_SOURCE
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <time.h>
#include "falloff_sections.h"

enum { REQUESTS_MS = 2400, CROWDED_MS = 150, ROUNDS = 2 };

__attribute__((noinline)) static void wait_ms(double ms)
{
    struct timespec wanted = {(long)ms / 1000, (long)(ms * 1e6) % 1000000000};
    nanosleep(&wanted, NULL);
}

int main(int argc, char **argv)
{
    int provided, rank, ranks;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < ROUNDS; round++) {
        MPIX_Section_enter(MPI_COMM_WORLD, "SHARED");
#pragma omp parallel
        wait_ms((double)REQUESTS_MS / ROUNDS / ranks / omp_get_num_threads());
        MPIX_Section_exit(MPI_COMM_WORLD, "SHARED");

        MPIX_Section_enter(MPI_COMM_WORLD, "CROWDED");
#pragma omp parallel
        {
#pragma omp critical
            wait_ms((double)CROWDED_MS / ROUNDS);
        }
        MPIX_Section_exit(MPI_COMM_WORLD, "CROWDED");
    }
    printf("rank %d of %d ran %d threads\n", rank, ranks, omp_get_max_threads());
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
