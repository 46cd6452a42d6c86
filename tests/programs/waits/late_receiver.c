/* Rank 1 is late to receive, and rank 0 waits: with a synchronous send, and with a message that is too large for a buffer. */
#define _GNU_SOURCE
#include "plant.h"

enum { SYNCHRONOUS = 40, LARGE = 30, BYTES = 8 << 20 };

static char bytes[BYTES];

PHASE late_for_synchronous(void)
{
    struct span own = {0, 0};
    meet();
    if (rank == 0) {
        TIMED(own, MPI_Ssend(bytes, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD));
    } else if (rank == 1) {
        away(SYNCHRONOUS);
        TIMED(own, MPI_Recv(bytes, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    const long long *entered = all_of(own.enter);
    if (rank == 0)
        waited("late receiver", "late_for_synchronous", "MPI_Ssend", own, entered[1], 1, "late_for_synchronous");
}

PHASE late_for_large(void)
{
    struct span own = {0, 0};
    meet();
    if (rank == 0) {
        TIMED(own, MPI_Send(bytes, BYTES, MPI_CHAR, 1, 1, MPI_COMM_WORLD));
    } else if (rank == 1) {
        away(LARGE);
        TIMED(own, MPI_Recv(bytes, BYTES, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    const long long *entered = all_of(own.enter);
    if (rank == 0)
        waited("late receiver", "late_for_large", "MPI_Send", own, entered[1], 1, "late_for_large");
}

int main(int argc, char **argv)
{
    begin(&argc, &argv, 2);
    for (int round = 0; round < ROUNDS; round++) {
        late_for_synchronous();
        late_for_large();
    }
    end();
    return 0;
}
