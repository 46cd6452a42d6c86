/* The last rank comes late to a sum of all, and then rank 0 to an exchange of all with all. */
#define _GNU_SOURCE
#include "plant.h"

enum { LATE = 40 };

int main(int argc, char **argv)
{
    begin(&argc, &argv, 2);
    for (int round = 0; round < ROUNDS; round++) {
        int mine = rank, sum, *given = calloc(size, sizeof *given), *got = calloc(size, sizeof *got);
        meet();
        if (rank == size - 1)
            late(LATE);
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        meet();
        if (rank == 0)
            late(LATE / 2);
        MPI_Alltoall(given, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD);
        free(given);
        free(got);
    }
    if (rank < size - 1)
        truth("wait at n-to-n", "MPI_Allreduce", LATE * ROUNDS);
    if (rank > 0)
        truth("wait at n-to-n", "MPI_Alltoall", LATE / 2 * ROUNDS);
    MPI_Finalize();
    return 0;
}
