/* The last rank is late to give to rank 0, which waits: for a sum, and then for all parts. */
#define _GNU_SOURCE
#include "plant.h"

enum { LATE = 40 };

PHASE late_for_reduce(void)
{
    struct span own;
    int mine = rank, sum;
    meet();
    if (rank == size - 1)
        away(LATE);
    TIMED(own, MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
    const long long *entered = all_of(own.enter);
    if (rank == 0)
        waited("early reduce", "late_for_reduce", "MPI_Reduce", own, latest(entered, 1, size), size - 1, "late_for_reduce");
}

PHASE late_for_gather(void)
{
    struct span own;
    int mine = rank, *parts = calloc(size, sizeof *parts);
    meet();
    if (rank == size - 1)
        away(LATE / 2);
    TIMED(own, MPI_Gather(&mine, 1, MPI_INT, parts, 1, MPI_INT, 0, MPI_COMM_WORLD));
    const long long *entered = all_of(own.enter);
    if (rank == 0)
        waited("early reduce", "late_for_gather", "MPI_Gather", own, latest(entered, 1, size), size - 1, "late_for_gather");
    free(parts);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv, 2);
    for (int round = 0; round < ROUNDS; round++) {
        late_for_reduce();
        late_for_gather();
    }
    end();
    return 0;
}
