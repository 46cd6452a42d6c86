/* A mean filter applied many times to an image of three channels in double precision, split by rows over the ranks, with the
 * phases of such programs as sections: LOAD and STORE on rank 0 while the others wait, SCATTER and GATHER, and in every step
 * HALO and CONVOLVE. After Besnard et al., "Towards a Better Expressiveness of the Speedup Metric in MPI Context", 5.1.
 *
 *     convolution [-s WIDTHxHEIGHT] [-n STEPS] [-l MILLISECONDS] [-o FILE]
 *
 * -l is what the storage takes before it gives the image. The image is a wave on a torus, which the filter only makes weaker:
 * every pixel is known in closed form after any number of steps, and compared with it. Each rank prints its own times. */
#define _GNU_SOURCE
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "falloff_sections.h"

enum { CHANNELS = 3, LOAD = 0, SCATTER, CONVOLVE, HALO, GATHER, STORE, PHASES };

static const char *const labels[PHASES] = {"LOAD", "SCATTER", "CONVOLVE", "HALO", "GATHER", "STORE"};
static double spent[PHASES], begun;

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void enter(int phase)
{
    MPIX_Section_enter(MPI_COMM_WORLD, labels[phase]);
    begun = now_s();
}

static void leave(int phase)
{
    spent[phase] += now_s() - begun;
    MPIX_Section_exit(MPI_COMM_WORLD, labels[phase]);
}

/* What the filter leaves of a wave of one period over `length` pixels: the mean of cos(x - d), cos(x), cos(x + d). */
static double kept(int length)
{
    return (1 + 2 * cos(2 * M_PI / length)) / 3;
}

/* The wave in one pixel; `amplitude` is 1 at first. */
static double pixel(int x, int y, int channel, int width, int height, double amplitude)
{
    return 128 + 40 * (channel + 1) * amplitude * cos(2 * M_PI * x / width) * cos(2 * M_PI * y / height);
}

/* The mean of each pixel and its eight neighbours, of the rows between the first and the last. */
__attribute__((noinline)) static void convolve(const double *from, double *to, int width, int rows)
{
    int length = width * CHANNELS;
    for (int y = 1; y <= rows; y++)
        for (int x = 0; x < width; x++) {
            int left = (x + width - 1) % width * CHANNELS, right = (x + 1) % width * CHANNELS;
            for (int c = 0; c < CHANNELS; c++) {
                double sum = 0;
                for (int dy = -1; dy <= 1; dy++) {
                    const double *row = from + (size_t)(y + dy) * length;
                    sum += row[left + c] + row[x * CHANNELS + c] + row[right + c];
                }
                to[(size_t)y * length + x * CHANNELS + c] = sum / 9;
            }
        }
}

/* Writes the image with a byte for each channel. */
static void store(const char *name, const double *image, int width, int height)
{
    size_t size = (size_t)width * height * CHANNELS;
    unsigned char *bytes = malloc(size);
    FILE *file = fopen(name, "wb");
    if (!file || !bytes)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)lround(image[i]);
    fprintf(file, "P6\n%d %d\n255\n", width, height);
    fwrite(bytes, 1, size, file);
    fclose(file);
    free(bytes);
}

/* The largest miss of any pixel. */
static double miss(const double *image, int width, int height, int steps)
{
    double amplitude = pow(kept(width) * kept(height), steps), most = 0;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            for (int c = 0; c < CHANNELS; c++) {
                double is = image[((size_t)y * width + x) * CHANNELS + c];
                most = fmax(most, fabs(is - pixel(x, y, c, width, height, amplitude)));
            }
    return most;
}

int main(int argc, char **argv)
{
    int width = 768, height = 512, steps = 60, latency_ms = 0, rank, size, option;
    const char *output = "image.ppm";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    while ((option = getopt(argc, argv, "s:n:l:o:")) != -1) {
        if (option == 's' && sscanf(optarg, "%dx%d", &width, &height) != 2)
            MPI_Abort(MPI_COMM_WORLD, 2);
        else if (option == 'n')
            steps = atoi(optarg);
        else if (option == 'l')
            latency_ms = atoi(optarg);
        else if (option == 'o')
            output = optarg;
    }
    if (height < size || width < 3)
        MPI_Abort(MPI_COMM_WORLD, 2);

    int length = width * CHANNELS, *counts = malloc(2 * size * sizeof(int)), *starts = counts + size;
    for (int r = 0; r < size; r++) {
        int first = (long)height * r / size;
        starts[r] = first * length;
        counts[r] = (int)((long)height * (r + 1) / size - first) * length;
    }
    int rows = counts[rank] / length, above = (rank + size - 1) % size, below = (rank + 1) % size;
    double *image = rank == 0 ? malloc((size_t)height * length * sizeof(double)) : NULL;
    /* With a row of each neighbour. */
    double *now = calloc((size_t)(rows + 2) * length, sizeof(double));
    double *next = calloc((size_t)(rows + 2) * length, sizeof(double));
    MPI_Barrier(MPI_COMM_WORLD);

    enter(LOAD);
    if (rank == 0) {
        struct timespec latency = {latency_ms / 1000, latency_ms % 1000 * 1000000L};
        nanosleep(&latency, NULL);
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++)
                for (int c = 0; c < CHANNELS; c++)
                    image[(size_t)y * length + x * CHANNELS + c] = pixel(x, y, c, width, height, 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    leave(LOAD);

    enter(SCATTER);
    MPI_Scatterv(image, counts, starts, MPI_DOUBLE, now + length, counts[rank], MPI_DOUBLE, 0, MPI_COMM_WORLD);
    leave(SCATTER);

    for (int step = 0; step < steps; step++) {
        enter(HALO);
        MPI_Sendrecv(now + length, length, MPI_DOUBLE, above, 0, now + (size_t)(rows + 1) * length, length,
                     MPI_DOUBLE, below, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(now + (size_t)rows * length, length, MPI_DOUBLE, below, 1, now, length, MPI_DOUBLE, above, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        leave(HALO);
        enter(CONVOLVE);
        convolve(now, next, width, rows);
        leave(CONVOLVE);
        double *swap = now;
        now = next;
        next = swap;
    }

    enter(GATHER);
    MPI_Gatherv(now + length, counts[rank], MPI_DOUBLE, image, counts, starts, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    leave(GATHER);

    enter(STORE);
    if (rank == 0)
        store(output, image, width, height);
    MPI_Barrier(MPI_COMM_WORLD);
    leave(STORE);

    char line[256];
    int end = snprintf(line, sizeof line, "rank %d of %d:", rank, size);
    for (int phase = 0; phase < PHASES; phase++)
        end += snprintf(line + end, sizeof line - end, " %s %.6f", labels[phase], spent[phase]);
    puts(line);
    fflush(stdout);
    int right = rank != 0 || miss(image, width, height, steps) < 1e-9;
    if (rank == 0)
        puts(right ? "every pixel is right" : "the image is wrong");
    MPI_Finalize();
    return right ? 0 : 1;
}
