/* Each rank comes later to a barrier than the one after it: all but the first wait. */
#define _GNU_SOURCE
#include "plant.h"

enum { LATE = 20 };

PHASE late_for_barrier(void)
{
    struct span own;
    meet();
    if (rank < size - 1)
        away(LATE * (size - 1 - rank));
    TIMED(own, MPI_Barrier(MPI_COMM_WORLD));
    const long long *entered = all_of(own.enter);
    if (rank > 0)
        waited("wait at barrier", "late_for_barrier", "MPI_Barrier", own, latest(entered, 0, size), 0, "late_for_barrier");
}

int main(int argc, char **argv)
{
    begin(&argc, &argv, 2);
    for (int round = 0; round < ROUNDS; round++)
        late_for_barrier();
    end();
    return 0;
}
