/* Rank 1 is late to receive, and rank 0 waits: with a synchronous send, and with a message that is too large for a buffer. */
#define _GNU_SOURCE
#include "plant.h"

enum { SYNCHRONOUS = 40, LARGE = 30, BYTES = 8 << 20 };

int main(int argc, char **argv)
{
    begin(&argc, &argv, 2);
    char *bytes = calloc(1, BYTES);
    for (int round = 0; bytes && round < ROUNDS; round++) {
        meet();
        if (rank == 0) {
            MPI_Ssend(bytes, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        } else if (rank == 1) {
            late(SYNCHRONOUS);
            MPI_Recv(bytes, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        meet();
        if (rank == 0) {
            MPI_Send(bytes, BYTES, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
        } else if (rank == 1) {
            late(LARGE);
            MPI_Recv(bytes, BYTES, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    if (rank == 0) {
        truth("late receiver", "MPI_Ssend", SYNCHRONOUS * ROUNDS);
        truth("late receiver", "MPI_Send", LARGE * ROUNDS);
    }
    free(bytes);
    MPI_Finalize();
    return 0;
}
