/* Each rank comes later to a barrier than the one after it: all but the first wait. */
#define _GNU_SOURCE
#include "plant.h"

enum { LATE = 20 };

int main(int argc, char **argv)
{
    begin(&argc, &argv, 2);
    for (int round = 0; round < ROUNDS; round++) {
        meet();
        late(LATE * (size - 1 - rank));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank > 0)
        truth("wait at barrier", "MPI_Barrier", LATE * rank * ROUNDS);
    MPI_Finalize();
    return 0;
}
