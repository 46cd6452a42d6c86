/* Sections in the same order but on rank 1, which swaps two of them after a while, and on rank 2, which enters none. */
#include <mpi.h>
#include "falloff_sections.h"

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm first;
    MPI_Comm_split(MPI_COMM_WORLD, rank < 3 ? 0 : 1, rank, &first);
    for (int step = 0; step < 600 && rank < 2; step++) {
        const char *one = rank == 1 && step == 400 ? "GATHER" : "HALO";
        const char *two = rank == 1 && step == 400 ? "HALO" : "GATHER";
        MPIX_Section_enter(first, one);
        MPIX_Section_exit(first, one);
        MPIX_Section_enter(first, two);
        MPIX_Section_exit(first, two);
    }
    MPI_Finalize();
    return 0;
}
