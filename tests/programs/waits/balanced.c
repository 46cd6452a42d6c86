/* All do the same at the same time, a ring of messages and a sum of all: nobody is late on purpose. */
#define _GNU_SOURCE
#include "plant.h"

PHASE ring_and_sum(void)
{
    struct span ring, sum;
    int mine = rank, other, total, left = (rank + size - 1) % size;
    meet();
    TIMED(ring, MPI_Sendrecv(&mine, 1, MPI_INT, (rank + 1) % size, 0, &other, 1, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    TIMED(sum, MPI_Allreduce(&mine, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    waited("late sender", "ring_and_sum", "MPI_Sendrecv", ring, all_of(ring.enter)[left], 0, NULL);
    waited("wait at n-to-n", "ring_and_sum", "MPI_Allreduce", sum, latest(all_of(sum.enter), 0, size), 0, NULL);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv, 1);
    for (int round = 0; round < 2 * ROUNDS; round++)
        ring_and_sum();
    end();
    return 0;
}
