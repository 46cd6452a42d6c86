/* stencil STEPS WIDTH: each rank relaxes a square of so many points on a side, of a grid that closes on itself. The edges go to
   the four neighbours while the inside is computed. Every tenth step all hear of the largest change. */
#include <mpi.h>
#include <stdlib.h>

enum { LEFT, RIGHT, UP, DOWN, SIDES };
static int row;

static double larger(double a, double b) {
  return a > b ? a : b;
}

/* The largest change among the points of a rectangle. */
static double relax(const double *old, double *new, int top, int bottom, int left, int right) {
  double most = 0;
  for (int y = top; y <= bottom; y++) {
    for (int x = left; x <= right; x++) {
      const double *at = old + y * row + x;
      double next = 0.25 * (at[-1] + at[1] + at[-row] + at[row]);
      most = larger(most, larger(next - *at, *at - next));
      new[y * row + x] = next;
    }
  }
  return most;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int steps = argc > 1 ? atoi(argv[1]) : 1000, width = argc > 2 ? atoi(argv[2]) : 512;
  int size, dims[2] = {0, 0}, closed[2] = {1, 1}, to[SIDES];
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Dims_create(size, 2, dims);
  MPI_Comm grid;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, closed, 0, &grid);
  MPI_Cart_shift(grid, 0, 1, &to[LEFT], &to[RIGHT]);
  MPI_Cart_shift(grid, 1, 1, &to[UP], &to[DOWN]);
  row = width + 2;
  MPI_Datatype column;
  MPI_Type_vector(width, 1, row, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  int inner[SIDES] = {row + 1, row + width, row + 1, width * row + 1};
  int outer[SIDES] = {row, row + width + 1, 1, (width + 1) * row + 1};

  double *old = calloc((size_t)row * row, sizeof *old), *new = calloc((size_t)row * row, sizeof *new), largest = 0;
  for (int i = 0; i < row * row; i++) old[i] = i * 7919 % 1000;
  for (int step = 0; step < steps; step++) {
    MPI_Request requests[2 * SIDES];
    for (int side = 0; side < SIDES; side++) {
      MPI_Datatype type = side < UP ? column : MPI_DOUBLE;
      int count = side < UP ? 1 : width;
      /* What comes from a side was sent to the opposite one. */
      MPI_Irecv(old + outer[side], count, type, to[side], side ^ 1, grid, &requests[side]);
      MPI_Isend(old + inner[side], count, type, to[side], side, grid, &requests[SIDES + side]);
    }
    double most = relax(old, new, 2, width - 1, 2, width - 1);
    MPI_Status statuses[2 * SIDES];
    MPI_Waitall(2 * SIDES, requests, statuses);
    most = larger(most, larger(relax(old, new, 1, 1, 1, width), relax(old, new, width, width, 1, width)));
    most = larger(most, larger(relax(old, new, 2, width - 1, 1, 1), relax(old, new, 2, width - 1, width, width)));
    double *swapped = old;
    old = new;
    new = swapped;
    if (step % 10 == 9) MPI_Allreduce(&most, &largest, 1, MPI_DOUBLE, MPI_MAX, grid);
  }
  MPI_Finalize();
  return largest < 0;
}
