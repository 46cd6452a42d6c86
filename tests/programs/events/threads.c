// Threads that all send and receive at once: each to the same thread of the next rank, and in every tenth round by a probe, and
// together with its like of all ranks.
#include "tally.h"
#include <pthread.h>

enum { THREADS = 3 };
static MPI_Comm own[THREADS];

// Few where many ranks have to take turns on few processors.
static int rounds(void) {
    return size < 4 ? 300 : 10;
}

static void *work(void *argument) {
    int tag = (int)(long)argument, right = (rank + 1) % size, left = (rank + size - 1) % size;
    char out[64] = "", in[64];
    for (int round = 0; round < rounds(); round++) {
        MPI_Request requests[2];
        int length = 10 * tag + round % 7;
        MPI_Irecv(in, 64, MPI_CHAR, left, tag, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out, length, MPI_CHAR, right, tag, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        if (round % 10 == 9) {
            MPI_Message message;
            MPI_Isend(out, 8, MPI_CHAR, right, tag, own[tag], &requests[0]);
            MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, own[tag], &message, MPI_STATUS_IGNORE);
            MPI_Mrecv(in, 64, MPI_CHAR, &message, MPI_STATUS_IGNORE);
            MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
            MPI_Allreduce(&tag, &length, 1, MPI_INT, MPI_MAX, own[tag]);
        }
    }
    return NULL;
}

int main(int argc, char **argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (provided < MPI_THREAD_MULTIPLE) {
        puts("no threads here");
        MPI_Finalize();
        return 0;
    }
    pthread_t threads[THREADS];
    for (int at = 0; at < THREADS; at++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &own[at]);
        tally("make", 0);
    }
    for (long at = 0; at < THREADS; at++) {
        pthread_create(&threads[at], NULL, work, (void *)at);
    }
    for (int at = 0; at < THREADS; at++) {
        pthread_join(threads[at], NULL);
        for (int round = 0; round < rounds(); round++) {
            tally("send", 10 * at + round % 7);
            tally("receive", 10 * at + round % 7);
            if (round % 10 == 9) {
                tally("send", 8);
                tally("receive", 8);
                together("all-reduce", 4, 4);
            }
        }
        MPI_Comm_free(&own[at]);
        tally("make", 0);
    }
    end();
    return 0;
}
