/* Rank 0 computes too much before it sends, and rank 1 waits: the delay is that of the function that computes. */
#define _GNU_SOURCE
#include "plant.h"

enum { LATE = 40 };

__attribute__((noinline)) static double too_much(int milliseconds)
{
    double sum = 0;
    for (long long last = now_ns() + milliseconds * 1000000LL; now_ns() < last;)
        for (int at = 1; at < 1000; at++)
            sum += 1.0 / at;
    return sum;
}

PHASE computing(void)
{
    struct span own = {0, 0};
    double value = 0;
    meet();
    if (rank == 0) {
        value = too_much(LATE);
        TIMED(own, MPI_Send(&value, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD));
    } else if (rank == 1) {
        TIMED(own, MPI_Recv(&value, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    const long long *entered = all_of(own.enter);
    if (rank == 1)
        waited("late sender", "computing", "MPI_Recv", own, entered[0], 0, "too_much");
}

int main(int argc, char **argv)
{
    begin(&argc, &argv, 2);
    for (int round = 0; round < ROUNDS; round++)
        computing();
    end();
    return 0;
}
