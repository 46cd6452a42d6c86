// Programs that are wrong: wrong KIND.
#include "tally.h"
#include <signal.h>
#include <unistd.h>

int main(int argc, char **argv) {
    char bytes[100] = "";
    begin(&argc, &argv);
    const char *kind = argc > 1 ? argv[1] : "";
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(kind, "unmatched") && rank == 0) {
        // Nobody receives it; it goes at once.
        MPI_Send(bytes, 40, MPI_CHAR, 1, 3, MPI_COMM_WORLD);
    } else if (!strcmp(kind, "deadlock")) {
        // All wait for the next one, who sends to nobody.
        printf("%d waits as %d\n", rank, (int)getpid());
        fflush(stdout);
        MPI_Recv(bytes, 100, MPI_CHAR, (rank + 1) % size, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (!strcmp(kind, "abort") && rank == 1) {
        MPI_Abort(MPI_COMM_WORLD, 3);
    } else if (!strcmp(kind, "abort")) {
        MPI_Recv(bytes, 100, MPI_CHAR, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (!strcmp(kind, "fork") && rank == 0) {
        // A child that calls nothing of MPI must not be in its parent's log.
        if (fork() == 0) {
            volatile double sum = 0;
            for (int at = 0; at < 50000000; at++) {
                sum += at;
            }
            _exit(0);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
