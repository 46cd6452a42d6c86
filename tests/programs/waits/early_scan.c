/* Rank 1 is late to a sum of all before each: those after it wait. Rank 0, which need not, is away for as long. */
#define _GNU_SOURCE
#include "plant.h"

enum { LATE = 40 };

PHASE late_for_scan(void)
{
    struct span own;
    int mine = rank, sum;
    meet();
    if (rank == 1)
        away(LATE);
    TIMED(own, MPI_Scan(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    if (rank == 0)
        away(LATE);
    const long long *entered = all_of(own.enter);
    if (rank > 0)
        waited("early scan", "late_for_scan", "MPI_Scan", own, latest(entered, 0, rank), 1, rank > 1 ? "late_for_scan" : NULL);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv, 3);
    for (int round = 0; round < ROUNDS; round++)
        late_for_scan();
    end();
    return 0;
}
