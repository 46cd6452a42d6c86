/* allreduce STEPS NUMBERS: in each step each rank computes for 0.2 to 2 ms, and all add up so many numbers. */
#include "../burn.h"
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int steps = argc > 1 ? atoi(argv[1]) : 1000, numbers = argc > 2 ? atoi(argv[2]) : 128, rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double *own = calloc(numbers, sizeof *own), *sums = calloc(numbers, sizeof *sums);
  for (int step = 0; step < steps; step++) {
    BURN(0.2 + 0.18 * ((step * 7 + rank * 5) % 11));
    MPI_Allreduce(own, sums, numbers, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
