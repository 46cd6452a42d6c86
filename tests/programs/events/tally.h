// What a program has done by MPI, counted by itself: printed at the end, a line "RANK WHAT TIMES BYTES" for each thing, and what has
// come of the data. With -DLARGE functions have counts of 64 bits.
#include <mpi.h>
#ifdef LARGE
#include "large.h"
typedef MPI_Count Count;
typedef MPI_Aint Place;
#else
typedef int Count;
typedef int Place;
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TALLIES = 64 };
static struct {
    const char *what;
    long times, bytes;
} tallies[TALLIES];
static int rank, size;
static unsigned answer;

static void tally_times(const char *what, long times, long bytes) {
    for (int at = 0; at < TALLIES; at++) {
        if (!tallies[at].what) {
            tallies[at].what = what;
        }
        if (!strcmp(tallies[at].what, what)) {
            tallies[at].times += times;
            tallies[at].bytes += bytes;
            return;
        }
    }
    abort();
}

static void tally(const char *what, long bytes) {
    tally_times(what, 1, bytes);
}

// Something that all do together: bytes given and got are told apart.
static void together(const char *what, long given, long got) {
    tally(what, given);
    tally("got", got);
}

// Data that tell whose they are.
static void fill(void *data, long bytes) {
    for (long at = 0; at < bytes; at++) {
        ((char *)data)[at] = (char)(7 * rank + at % 31);
    }
}

// What has come is a part of the answer.
static void look(const void *data, long bytes) {
    for (long at = 0; at < bytes; at++) {
        answer = answer * 16777619u ^ ((const unsigned char *)data)[at];
    }
}

static void begin(int *argc, char ***argv) {
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

// Prints while MPI is there still, as a launcher gathers it.
static void end(void) {
    for (int at = 0; at < TALLIES && tallies[at].what; at++) {
        printf("%d %s %ld %ld\n", rank, tallies[at].what, tallies[at].times, tallies[at].bytes);
    }
    printf("%d answer %u\n", rank, answer);
    fflush(stdout);
    MPI_Finalize();
}
