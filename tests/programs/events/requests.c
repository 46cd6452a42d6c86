// Messages with requests of every kind, and all ways to wait for them.
#include "tally.h"

enum { MANY = 40 };
static char out[MANY][4000], in[MANY][4000];
static MPI_Request requests[2 * MANY];
static MPI_Status statuses[2 * MANY];
static int indices[2 * MANY];

// Begins to receive from the left and to send to the right, so many of each; all lengths are told by the number.
static void exchange(int many) {
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int at = 0; at < many; at++) {
        MPI_Irecv(in[at], 4000, MPI_CHAR, at % 3 ? left : MPI_ANY_SOURCE, at, MPI_COMM_WORLD, &requests[2 * at]);
        tally("receive", 90 * at);
    }
    for (int at = 0; at < many; at++) {
        MPI_Request *request = &requests[2 * at + 1];
        switch (at % 3) {
        case 0:
            MPI_Isend(out[at], 90 * at, MPI_CHAR, right, at, MPI_COMM_WORLD, request);
            tally("send", 90 * at);
            break;
        case 1:
            MPI_Issend(out[at], 90 * at, MPI_CHAR, right, at, MPI_COMM_WORLD, request);
            tally("synchronous", 90 * at);
            break;
        default:
            MPI_Ibsend(out[at], 90 * at, MPI_CHAR, right, at, MPI_COMM_WORLD, request);
            tally("buffered", 90 * at);
        }
    }
}

int main(int argc, char **argv) {
    static char room[MANY * 5000];
    begin(&argc, &argv);
    fill(out, sizeof out);
    int right = (rank + 1) % size, left = (rank + size - 1) % size, done, index, count;
    MPI_Buffer_attach(room, sizeof room);
    exchange(MANY);
    MPI_Waitall(2 * MANY, requests, MPI_STATUSES_IGNORE);
    exchange(MANY);
    MPI_Waitall(2 * MANY, requests, statuses);
    exchange(5);
    for (int at = 0; at < 10; at++) {
        MPI_Wait(&requests[at], at % 2 ? MPI_STATUS_IGNORE : &statuses[0]);
    }
    exchange(5);
    for (int at = 0; at < 10; at++) {
        MPI_Waitany(10, requests, &index, at % 2 ? MPI_STATUS_IGNORE : &statuses[0]);
    }
    exchange(7);
    for (int left_over = 14; left_over > 0; left_over -= count) {
        MPI_Waitsome(14, requests, &count, indices, MPI_STATUSES_IGNORE);
    }
    exchange(4);
    for (int at = 0; at < 8; at++) {
        do {
            MPI_Test(&requests[at], &done, MPI_STATUS_IGNORE);
        } while (!done);
    }
    exchange(6);
    do {
        MPI_Testall(12, requests, &done, MPI_STATUSES_IGNORE);
    } while (!done);
    exchange(6);
    for (int left_over = 12; left_over > 0; left_over -= done) {
        MPI_Testany(12, requests, &index, &done, &statuses[0]);
    }
    exchange(6);
    for (int left_over = 12; left_over > 0; left_over -= count) {
        MPI_Testsome(12, requests, &count, indices, statuses);
    }
    // Nothing to wait for.
    MPI_Waitall(12, requests, statuses);
    MPI_Testany(12, requests, &index, &done, &statuses[0]);
    // Persistent ones, started three times, the last time alone.
    MPI_Request kept[4];
    MPI_Recv_init(in[0], 4000, MPI_CHAR, left, 50, MPI_COMM_WORLD, &kept[0]);
    MPI_Recv_init(in[1], 4000, MPI_CHAR, MPI_ANY_SOURCE, 51, MPI_COMM_WORLD, &kept[1]);
    MPI_Send_init(out[0], 700, MPI_CHAR, right, 50, MPI_COMM_WORLD, &kept[2]);
    MPI_Ssend_init(out[1], 800, MPI_CHAR, right, 51, MPI_COMM_WORLD, &kept[3]);
    for (int time = 0; time < 3; time++) {
        if (time < 2) {
            MPI_Startall(4, kept);
        } else {
            for (int at = 0; at < 4; at++) {
                MPI_Start(&kept[at]);
            }
        }
        tally("send", 700);
        tally("synchronous", 800);
        tally_times("receive", 2, 1500);
        MPI_Waitall(4, kept, time ? MPI_STATUSES_IGNORE : statuses);
    }
    for (int at = 0; at < 4; at++) {
        MPI_Request_free(&kept[at]);
    }
    // Ready and buffered ones, waited for in other ways; a ready send may begin when its receive has.
    MPI_Request request;
    MPI_Recv_init(in[0], 4000, MPI_CHAR, left, 52, MPI_COMM_WORLD, &kept[0]);
    MPI_Recv_init(in[1], 4000, MPI_CHAR, left, 53, MPI_COMM_WORLD, &kept[1]);
    MPI_Bsend_init(out[0], 600, MPI_CHAR, right, 52, MPI_COMM_WORLD, &kept[2]);
    MPI_Rsend_init(out[1], 900, MPI_CHAR, right, 53, MPI_COMM_WORLD, &kept[3]);
    for (int time = 0; time < 3; time++) {
        MPI_Startall(2, kept);
        MPI_Irecv(in[2], 4000, MPI_CHAR, left, 54, MPI_COMM_WORLD, &request);
        MPI_Barrier(MPI_COMM_WORLD);
        together("barrier", 0, 0);
        MPI_Startall(2, &kept[2]);
        for (int left_over = 4; left_over > 0;) {
            if (time == 0) {
                MPI_Waitany(4, kept, &index, MPI_STATUS_IGNORE);
                left_over--;
            } else if (time == 1) {
                MPI_Waitsome(4, kept, &count, indices, MPI_STATUSES_IGNORE);
                left_over -= count;
            } else {
                MPI_Testsome(4, kept, &count, indices, statuses);
                left_over -= count;
            }
        }
        MPI_Irsend(out[2], 200, MPI_CHAR, right, 54, MPI_COMM_WORLD, &requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        tally("buffered", 600);
        tally_times("ready", 2, 1100);
        tally_times("receive", 3, 1700);
    }
    // Some of them inactive, and called off.
    MPI_Waitall(4, kept, statuses);
    MPI_Start(&kept[0]);
    MPI_Cancel(&kept[0]);
    MPI_Wait(&kept[0], MPI_STATUS_IGNORE);
    tally("void", 0);
    for (int at = 0; at < 4; at++) {
        MPI_Request_free(&kept[at]);
    }
    // A receive that nobody sends to is called off; a send is let go.
    MPI_Irecv(in[0], 10, MPI_CHAR, left, 60, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    tally("void", 0);
    MPI_Isend(out[0], 60, MPI_CHAR, right, 61, MPI_COMM_WORLD, &request);
    tally("send", 60);
    MPI_Request_free(&request);
    MPI_Recv(in[0], 100, MPI_CHAR, left, 61, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    tally("receive", 60);
    // Nobody at the other end.
    MPI_Irecv(in[0], 10, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out[0], 10, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
#if MPI_VERSION >= 4
    MPI_Isendrecv(out[0], 300, MPI_CHAR, right, 70, in[0], 4000, MPI_CHAR, left, 70, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Isendrecv_replace(out[0], 300, MPI_CHAR, right, 71, left, 71, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &statuses[0]);
    tally_times("send", 2, 600);
#ifdef MPICH
    // Its requests of this kind have no status of their own.
    tally_times("unsaid", 2, 0);
#else
    tally_times("receive", 2, 600);
#endif
    // In four parts, of which the last come first.
    MPI_Psend_init(out[0], 4, 250, MPI_CHAR, right, 80, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Precv_init(in[0], 4, 250, MPI_CHAR, left, 80, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    MPI_Startall(2, requests);
    MPI_Pready_range(2, 3, requests[0]);
    MPI_Pready(0, requests[0]);
    MPI_Pready_list(1, (int[]){1}, requests[0]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    tally("send", 1000);
    tally_times("receive", 1, 1000);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    // Counts of 64 bits.
    MPI_Irecv_c(in[0], 4000, MPI_CHAR, left, 90, MPI_COMM_WORLD, &request);
    MPI_Send_c(out[0], 123, MPI_CHAR, right, 90, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    tally("send", 123);
    tally("receive", 123);
#endif
    look(in, sizeof in);
    void *address;
    int length;
    MPI_Buffer_detach(&address, &length);
    end();
    return 0;
}
