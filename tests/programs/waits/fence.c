/* Rank 0 comes late to the fence that ends a time of transfers: the others wait. */
#define _GNU_SOURCE
#include "plant.h"

enum { LATE = 40 };

int main(int argc, char **argv)
{
    int *memory;
    MPI_Win window;
    begin(&argc, &argv, 2);
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    for (int round = 0; round < ROUNDS; round++) {
        meet();
        MPI_Win_fence(0, window);
        MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window);
        if (rank == 0)
            late(LATE);
        MPI_Win_fence(0, window);
    }
    MPI_Win_free(&window);
    if (rank > 0)
        truth("wait at fence", "MPI_Win_fence", LATE * ROUNDS);
    MPI_Finalize();
    return 0;
}
