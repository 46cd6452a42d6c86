/* Rank 0 is late to give to all: the same, and then each its part. */
#define _GNU_SOURCE
#include "plant.h"

enum { LATE = 40 };

PHASE late_to_broadcast(void)
{
    struct span own;
    int value = rank;
    meet();
    if (rank == 0)
        away(LATE);
    TIMED(own, MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD));
    const long long *entered = all_of(own.enter);
    if (rank > 0)
        waited("late broadcast", "late_to_broadcast", "MPI_Bcast", own, entered[0], 0, "late_to_broadcast");
}

PHASE late_to_scatter(void)
{
    struct span own;
    int value, *parts = calloc(size, sizeof *parts);
    meet();
    if (rank == 0)
        away(LATE / 2);
    TIMED(own, MPI_Scatter(parts, 1, MPI_INT, &value, 1, MPI_INT, 0, MPI_COMM_WORLD));
    const long long *entered = all_of(own.enter);
    if (rank > 0)
        waited("late broadcast", "late_to_scatter", "MPI_Scatter", own, entered[0], 0, "late_to_scatter");
    free(parts);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv, 2);
    for (int round = 0; round < ROUNDS; round++) {
        late_to_broadcast();
        late_to_scatter();
    }
    end();
    return 0;
}
