/* Rank 0 is late to begin a sum of all that does not block: the others wait for it where they complete it. */
#define _GNU_SOURCE
#include "plant.h"

enum { LATE = 40 };

int main(int argc, char **argv)
{
    begin(&argc, &argv, 2);
    for (int round = 0; round < ROUNDS; round++) {
        int mine = rank, sum;
        MPI_Request request;
        meet();
        if (rank == 0)
            late(LATE);
        MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (rank > 0)
        truth("wait at n-to-n", "MPI_Wait", LATE * ROUNDS);
    MPI_Finalize();
    return 0;
}
