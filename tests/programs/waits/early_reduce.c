/* The last rank is late to give to rank 0, which waits: for a sum, and then for all parts. */
#define _GNU_SOURCE
#include "plant.h"

enum { LATE = 40 };

int main(int argc, char **argv)
{
    begin(&argc, &argv, 2);
    for (int round = 0; round < ROUNDS; round++) {
        int mine = rank, sum, *parts = calloc(size, sizeof *parts);
        meet();
        if (rank == size - 1)
            late(LATE);
        MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
        meet();
        if (rank == size - 1)
            late(LATE / 2);
        MPI_Gather(&mine, 1, MPI_INT, parts, 1, MPI_INT, 0, MPI_COMM_WORLD);
        free(parts);
    }
    if (rank == 0) {
        truth("early reduce", "MPI_Reduce", LATE * ROUNDS);
        truth("early reduce", "MPI_Gather", LATE / 2 * ROUNDS);
    }
    MPI_Finalize();
    return 0;
}
