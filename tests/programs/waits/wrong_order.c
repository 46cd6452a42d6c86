/* Rank 1 waits for a late message while an earlier one is there already: of the same sender, and then of another. */
#define _GNU_SOURCE
#include "plant.h"

enum { SAME = 40, OTHER = 30 };

static void receive(int source, int tag)
{
    int value;
    MPI_Recv(&value, 1, MPI_INT, source, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* The same, so that its waits stand at another function. */
static void receive_request(int source, int tag)
{
    int value;
    MPI_Request request;
    MPI_Irecv(&value, 1, MPI_INT, source, tag, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv, 3);
    for (int round = 0; round < ROUNDS; round++) {
        meet();
        if (rank == 0) {
            MPI_Send(&round, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
            late(SAME);
            MPI_Send(&round, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
        } else if (rank == 1) {
            receive(0, 1);
            receive(0, 0);
        }
        meet();
        if (rank == 0) {
            late(OTHER);
            MPI_Send(&round, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
        } else if (rank == 2) {
            MPI_Send(&round, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
        } else if (rank == 1) {
            receive_request(0, 2);
            receive_request(2, 2);
        }
    }
    if (rank == 1) {
        truth("wrong order, same source", "MPI_Recv", SAME * ROUNDS);
        truth("wrong order, other source", "MPI_Wait", OTHER * ROUNDS);
    }
    MPI_Finalize();
    return 0;
}
