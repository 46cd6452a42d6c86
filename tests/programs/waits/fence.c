/* Rank 0 comes late to the fence that ends a time of transfers: the others wait. */
#define _GNU_SOURCE
#include "plant.h"

enum { LATE = 40 };

static MPI_Win window;

PHASE late_for_fence(void)
{
    struct span first, own;
    meet();
    TIMED(first, MPI_Win_fence(0, window));
    MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window);
    if (rank == 0)
        away(LATE);
    TIMED(own, MPI_Win_fence(0, window));
    waited("wait at fence", "late_for_fence", "MPI_Win_fence", first, latest(all_of(first.enter), 0, size), 0, "late_for_fence");
    const long long *entered = all_of(own.enter);
    if (rank > 0)
        waited("wait at fence", "late_for_fence", "MPI_Win_fence", own, latest(entered, 0, size), 0, "late_for_fence");
}

int main(int argc, char **argv)
{
    int *memory;
    begin(&argc, &argv, 2);
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    for (int round = 0; round < ROUNDS; round++)
        late_for_fence();
    MPI_Win_free(&window);
    end();
    return 0;
}
