// Threads that all send and receive at once: each to the same thread of the next rank.
#include "tally.h"
#include <pthread.h>

enum { THREADS = 3, ROUNDS = 300 };

static void *work(void *argument) {
    int tag = (int)(long)argument, right = (rank + 1) % size, left = (rank + size - 1) % size;
    char out[64] = "", in[64];
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request requests[2];
        int length = 10 * tag + round % 7;
        MPI_Irecv(in, 64, MPI_CHAR, left, tag, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out, length, MPI_CHAR, right, tag, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
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
    for (long at = 0; at < THREADS; at++) {
        pthread_create(&threads[at], NULL, work, (void *)at);
    }
    for (int at = 0; at < THREADS; at++) {
        pthread_join(threads[at], NULL);
        for (int round = 0; round < ROUNDS; round++) {
            tally("send", 10 * at + round % 7);
            tally("receive", 10 * at + round % 7);
        }
    }
    end();
    return 0;
}
