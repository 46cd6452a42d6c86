/* Gaussian elimination with partial pivoting in quadruple precision, its rows dealt out to the ranks in turns: gauss N
 *
 * At step k every rank offers the largest entry of column k among its rows below; the rank that has the largest of all broadcasts
 * its row, which takes the place of row k, and every rank eliminates column k from its other rows: N^3/3 multiplications and as many
 * subtractions shared by p ranks, N reductions of 16 bytes, N broadcasts of 8 N bytes on average. Operations in quadruple precision
 * cost so much that caches do not matter. The answer is checked by its residual. Rank 0 prints CPU seconds a rank, by the ranks' own
 * clocks: of the elimination, of the messages between its steps, and of the whole process up to there. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef __float128 quad;

static int rank, size;
/* CPU seconds of this rank. */
static double eliminating, sending;

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

static double magnitude(quad value) { return value < 0 ? -(double)value : (double)value; }

/* Entry of the matrix, from -1 to 1; the same on every rank. */
static double entry(unsigned row, unsigned column) {
    unsigned x = row * 2654435761u + column * 2246822519u + 12345u;
    x = (x ^ x >> 15) * 2246822519u;
    x = (x ^ x >> 13) * 3266489917u;
    return (x ^ x >> 16) / 2147483648.0 - 1.0;
}

static double right_side(unsigned row) { return entry(row, 4000000000u); }

/* Takes `factor` times the pivot row from a row, from its column `from` on. */
__attribute__((noinline)) static void eliminate(quad *row, const quad *pivot, quad factor, int from, int width) {
    for (int column = from; column < width; column++) row[column] -= factor * pivot[column];
}

/* Of this rank's rows that are not used up, the one with the largest entry in a column; -1 if there is none. */
__attribute__((noinline)) static int largest(quad *const *rows, const int *used, int count, int column) {
    int best = -1;
    for (int i = 0; i < count; i++)
        if (!used[i] && (best < 0 || magnitude(rows[i][column]) > magnitude(rows[best][column]))) best = i;
    return best;
}

/* Solves for N unknowns; every rank gets all of them. */
__attribute__((noinline)) static void solve(quad *const *rows, int count, int n, quad *solution) {
    int width = n + 1;
    int *used = calloc(count + 1, sizeof *used);
    quad *triangle = malloc(sizeof(quad) * n * width);
    for (int k = 0; k < n; k++) {
        double start = cpu_seconds();
        int best = largest(rows, used, count, k);
        double found = cpu_seconds();
        struct { double value; int rank; } mine = {best < 0 ? -1.0 : magnitude(rows[best][k]), rank}, all;
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
        quad *pivot = triangle + (size_t)k * width;
        if (all.rank == rank) {
            memcpy(pivot + k, rows[best] + k, sizeof(quad) * (width - k));
            used[best] = 1;
        }
        MPI_Bcast(pivot + k, (width - k) * (int)sizeof(quad), MPI_BYTE, all.rank, MPI_COMM_WORLD);
        double sent = cpu_seconds();
        for (int i = 0; i < count; i++)
            if (!used[i]) eliminate(rows[i], pivot, rows[i][k] / pivot[k], k, width);
        sending += sent - found;
        eliminating += found - start + cpu_seconds() - sent;
    }
    for (int k = n - 1; k >= 0; k--) {
        const quad *row = triangle + (size_t)k * width;
        quad sum = row[n];
        for (int column = k + 1; column < n; column++) sum -= row[column] * solution[column];
        solution[k] = sum / row[k];
    }
    free(triangle);
    free(used);
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 0;
    if (n < 1 || n > 10000) return fprintf(stderr, "usage: gauss N\n"), 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int count = (n - rank + size - 1) / size;
    quad **rows = malloc(sizeof *rows * (count + 1)), *solution = malloc(sizeof(quad) * n);
    for (int i = 0; i < count; i++) {
        rows[i] = malloc(sizeof(quad) * (n + 1));
        for (int column = 0; column < n; column++) rows[i][column] = entry(rank + i * size, column);
        rows[i][n] = right_side(rank + i * size);
    }
    solve(rows, count, n, solution);
    double worst = 0.0, worst_of_all;
    for (int i = rank; i < n; i += size) {
        quad left = -right_side(i);
        for (int column = 0; column < n; column++) left += entry(i, column) * solution[column];
        if (magnitude(left) > worst) worst = magnitude(left);
    }
    MPI_Allreduce(&worst, &worst_of_all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    double mine[3] = {eliminating, sending, cpu_seconds()}, sum[3];
    MPI_Reduce(mine, sum, 3, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("N %d p %d residual %.1e eliminating %.6f sending %.6f process %.6f\n", n, size, worst_of_all, sum[0] / size,
               sum[1] / size, sum[2] / size);
    MPI_Finalize();
    return worst_of_all < 1e-24 ? 0 : 1;
}
