/* Rank 0 is late to give to all: the same, and then each its part. */
#define _GNU_SOURCE
#include "plant.h"

enum { LATE = 40 };

int main(int argc, char **argv)
{
    begin(&argc, &argv, 2);
    for (int round = 0; round < ROUNDS; round++) {
        int value = round, *parts = calloc(size, sizeof *parts);
        meet();
        if (rank == 0)
            late(LATE);
        MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
        meet();
        if (rank == 0)
            late(LATE / 2);
        MPI_Scatter(parts, 1, MPI_INT, &value, 1, MPI_INT, 0, MPI_COMM_WORLD);
        free(parts);
    }
    if (rank > 0) {
        truth("late broadcast", "MPI_Bcast", LATE * ROUNDS);
        truth("late broadcast", "MPI_Scatter", LATE / 2 * ROUNDS);
    }
    MPI_Finalize();
    return 0;
}
