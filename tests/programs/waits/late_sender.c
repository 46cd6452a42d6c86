/* Rank 0 is late to send, and rank 1 waits: in a receive, for a request, and for two requests at once. */
#define _GNU_SOURCE
#include "plant.h"

enum { RECV = 40, WAIT = 30, FIRST = 20, SECOND = 50 };

int main(int argc, char **argv)
{
    begin(&argc, &argv, 2);
    for (int round = 0; round < ROUNDS; round++) {
        int value[2] = {round, round};
        MPI_Request request[2];
        MPI_Status status[2];
        meet();
        if (rank == 0) {
            late(RECV);
            MPI_Send(value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        } else if (rank == 1) {
            MPI_Recv(value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        meet();
        if (rank == 0) {
            late(WAIT);
            MPI_Send(value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
        } else if (rank == 1) {
            MPI_Irecv(value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request[0]);
            MPI_Wait(&request[0], MPI_STATUS_IGNORE);
        }
        meet();
        if (rank == 0) {
            late(FIRST);
            MPI_Send(&value[0], 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
            late(SECOND - FIRST);
            MPI_Send(&value[1], 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
        } else if (rank == 1) {
            MPI_Irecv(&value[0], 1, MPI_INT, 0, 2, MPI_COMM_WORLD, &request[0]);
            MPI_Irecv(&value[1], 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &request[1]);
            MPI_Waitall(2, request, status);
        }
    }
    if (rank == 1) {
        truth("late sender", "MPI_Recv", RECV * ROUNDS);
        truth("late sender", "MPI_Wait", WAIT * ROUNDS);
        truth("late sender", "MPI_Waitall", SECOND * ROUNDS);
    }
    MPI_Finalize();
    return 0;
}
