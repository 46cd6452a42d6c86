/* Rank 0 is late to begin a sum of all that does not block: the others wait for it where they complete it. */
#define _GNU_SOURCE
#include "plant.h"

enum { LATE = 40 };

PHASE late_to_begin(void)
{
    struct span begins, own;
    int mine = rank, sum;
    MPI_Request request;
    meet();
    if (rank == 0)
        away(LATE);
    TIMED(begins, MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request));
    TIMED(own, MPI_Wait(&request, MPI_STATUS_IGNORE));
    const long long *entered = all_of(begins.enter);
    if (rank > 0)
        waited("wait at n-to-n", "late_to_begin", "MPI_Wait", own, latest(entered, 0, size), 0, "late_to_begin");
}

int main(int argc, char **argv)
{
    begin(&argc, &argv, 2);
    for (int round = 0; round < ROUNDS; round++)
        late_to_begin();
    end();
    return 0;
}
