/* Rank 1 waits for a late message while an earlier one is there already: of the same sender, and then of another. */
#define _GNU_SOURCE
#include "plant.h"

enum { SAME = 40, OTHER = 30 };

PHASE late_after_own(void)
{
    struct span own = {0, 0};
    int value = rank;
    meet();
    if (rank == 0) {
        MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        away(SAME);
        TIMED(own, MPI_Send(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD));
    } else if (rank == 1) {
        TIMED(own, MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        away(SAME);
    }
    const long long *entered = all_of(own.enter);
    if (rank == 1)
        waited("wrong order, same source", "late_after_own", "MPI_Recv", own, entered[0], 0, "late_after_own");
}

PHASE late_after_other(void)
{
    struct span own = {0, 0};
    int value = rank;
    MPI_Request request[2];
    meet();
    if (rank == 0) {
        away(OTHER);
        TIMED(own, MPI_Send(&value, 1, MPI_INT, 1, 2, MPI_COMM_WORLD));
    } else if (rank == 1) {
        MPI_Irecv(&value, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, &request[0]);
        TIMED(own, MPI_Wait(&request[0], MPI_STATUS_IGNORE));
        MPI_Irecv(&value, 1, MPI_INT, 2, 2, MPI_COMM_WORLD, &request[1]);
        MPI_Wait(&request[1], MPI_STATUS_IGNORE);
    } else if (rank == 2) {
        MPI_Send(&value, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
        away(OTHER);
    } else {
        away(OTHER);
    }
    const long long *entered = all_of(own.enter);
    if (rank == 1)
        waited("wrong order, other source", "late_after_other", "MPI_Wait", own, entered[0], 0, "late_after_other");
}

int main(int argc, char **argv)
{
    begin(&argc, &argv, 3);
    for (int round = 0; round < ROUNDS; round++) {
        late_after_own();
        late_after_other();
    }
    end();
    return 0;
}
