/* The last rank comes late to a sum of all, and then rank 0 to an exchange of all with all. */
#define _GNU_SOURCE
#include "plant.h"

enum { LATE = 40 };

PHASE late_for_sum(void)
{
    struct span own;
    int mine = rank, sum;
    meet();
    if (rank == size - 1)
        away(LATE);
    TIMED(own, MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    const long long *entered = all_of(own.enter);
    if (rank < size - 1)
        waited("wait at n-to-n", "late_for_sum", "MPI_Allreduce", own, latest(entered, 0, size), size - 1, "late_for_sum");
}

PHASE late_for_exchange(void)
{
    struct span own;
    int *given = calloc(size, sizeof *given), *got = calloc(size, sizeof *got);
    meet();
    if (rank == 0)
        away(LATE / 2);
    TIMED(own, MPI_Alltoall(given, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD));
    const long long *entered = all_of(own.enter);
    if (rank > 0)
        waited("wait at n-to-n", "late_for_exchange", "MPI_Alltoall", own, latest(entered, 0, size), 0, "late_for_exchange");
    free(given);
    free(got);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv, 2);
    for (int round = 0; round < ROUNDS; round++) {
        late_for_sum();
        late_for_exchange();
    }
    end();
    return 0;
}
