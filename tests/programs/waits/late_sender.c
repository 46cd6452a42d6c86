/* Rank 0 is late to send, and rank 1 waits: in a receive, for a request, and for two requests at once. */
#define _GNU_SOURCE
#include "plant.h"

enum { RECV = 40, WAIT = 30, FIRST = 20, SECOND = 50 };

PHASE late_for_receive(void)
{
    struct span own = {0, 0};
    int value = rank;
    meet();
    if (rank == 0) {
        away(RECV);
        TIMED(own, MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD));
    } else if (rank == 1) {
        TIMED(own, MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    const long long *entered = all_of(own.enter);
    if (rank == 1)
        waited("late sender", "late_for_receive", "MPI_Recv", own, entered[0], 0, "late_for_receive");
}

PHASE late_for_request(void)
{
    struct span own = {0, 0};
    int value = rank;
    MPI_Request request;
    meet();
    if (rank == 0) {
        away(WAIT);
        TIMED(own, MPI_Send(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD));
    } else if (rank == 1) {
        MPI_Irecv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request);
        TIMED(own, MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    const long long *entered = all_of(own.enter);
    if (rank == 1)
        waited("late sender", "late_for_request", "MPI_Wait", own, entered[0], 0, "late_for_request");
}

PHASE late_for_two(void)
{
    struct span own = {0, 0};
    int value[2] = {rank, rank};
    MPI_Request request[2];
    MPI_Status status[2];
    meet();
    if (rank == 0) {
        away(FIRST);
        MPI_Send(&value[0], 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
        away(SECOND - FIRST);
        TIMED(own, MPI_Send(&value[1], 1, MPI_INT, 1, 3, MPI_COMM_WORLD));
    } else if (rank == 1) {
        MPI_Irecv(&value[0], 1, MPI_INT, 0, 2, MPI_COMM_WORLD, &request[0]);
        MPI_Irecv(&value[1], 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &request[1]);
        TIMED(own, MPI_Waitall(2, request, status));
    }
    const long long *entered = all_of(own.enter);
    if (rank == 1)
        waited("late sender", "late_for_two", "MPI_Waitall", own, entered[0], 0, "late_for_two");
}

int main(int argc, char **argv)
{
    begin(&argc, &argv, 2);
    for (int round = 0; round < ROUNDS; round++) {
        late_for_receive();
        late_for_request();
        late_for_two();
    }
    end();
    return 0;
}
