/* ring STEPS BYTES: in each step each rank computes for 0.2 to 2 ms, gives so many bytes to the next, and gets as many from the
   one before. */
#include "../burn.h"
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int steps = argc > 1 ? atoi(argv[1]) : 1000, bytes = argc > 2 ? atoi(argv[2]) : 1024, rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char *given = calloc(1, bytes), *got = calloc(1, bytes);
  for (int step = 0; step < steps; step++) {
    BURN(0.2 + 0.18 * ((step * 7 + rank * 5) % 11));
    MPI_Sendrecv(given, bytes, MPI_CHAR, (rank + 1) % size, 0, got, bytes, MPI_CHAR, (rank + size - 1) % size, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
