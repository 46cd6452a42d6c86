/* Rank 1 is late to a sum of all before each: those after it wait. */
#define _GNU_SOURCE
#include "plant.h"

enum { LATE = 40 };

int main(int argc, char **argv)
{
    begin(&argc, &argv, 3);
    for (int round = 0; round < ROUNDS; round++) {
        int mine = rank, sum;
        meet();
        if (rank == 1)
            late(LATE);
        MPI_Scan(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    if (rank > 1)
        truth("early scan", "MPI_Scan", LATE * ROUNDS);
    MPI_Finalize();
    return 0;
}
