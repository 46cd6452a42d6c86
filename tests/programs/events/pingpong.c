// pingpong [BLOCKS]: two ranks send 8 bytes to and fro; prints what one call took in the median over so many blocks of 500
// rounds, nanoseconds.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS_MAX = 200, ROUNDS = 500 };

static int compare(const void *a, const void *b) {
    double difference = *(const double *)a - *(const double *)b;
    return (difference > 0) - (difference < 0);
}

int main(int argc, char **argv) {
    static double ns[BLOCKS_MAX];
    int rank, blocks = argc > 1 ? atoi(argv[1]) : BLOCKS_MAX;
    if (blocks < 1 || blocks > BLOCKS_MAX) {
        return 2;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int block = 0; block < blocks; block++) {
        double start = MPI_Wtime();
        for (int round = 0; rank < 2 && round < ROUNDS; round++) {
            double word = round;
            if (rank == 0) {
                MPI_Send(&word, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
                MPI_Recv(&word, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            } else {
                MPI_Recv(&word, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                MPI_Send(&word, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
            }
        }
        ns[block] = (MPI_Wtime() - start) * 1e9 / ROUNDS / 4;
    }
    if (rank == 0) {
        qsort(ns, blocks, sizeof *ns, compare);
        printf("%.0f\n", ns[blocks / 2]);
    }
    MPI_Finalize();
    return 0;
}
