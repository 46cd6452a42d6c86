// Blocking messages of every kind, round a ring.
#include "tally.h"

enum { LONGEST = 20000 };
static char out[LONGEST], in[LONGEST], room[4 * LONGEST];

int main(int argc, char **argv) {
    begin(&argc, &argv);
    fill(out, sizeof out);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Status status;
    MPI_Buffer_attach(room, sizeof room);
    // Even ranks send first; what is too long to go at once must not wait for itself.
    for (int length = 0; length <= LONGEST; length = 3 * length + 7) {
        for (int turn = 0; turn < 2; turn++) {
            if (rank % 2 == turn) {
                MPI_Send(out, length, MPI_CHAR, right, 5, MPI_COMM_WORLD);
                tally("send", length);
            } else {
                MPI_Recv(in, LONGEST, MPI_CHAR, left, 5, MPI_COMM_WORLD, &status);
                tally("receive", length);
            }
        }
        for (int turn = 0; turn < 2; turn++) {
            if (rank % 2 == turn) {
                MPI_Ssend(out, length / 4, MPI_INT, right, 6, MPI_COMM_WORLD);
                tally("synchronous", length / 4 * 4);
            } else {
                MPI_Recv(in, LONGEST / 4, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                tally("receive", length / 4 * 4);
            }
        }
        MPI_Bsend(out, length / 8, MPI_DOUBLE, right, 7, MPI_COMM_WORLD);
        tally("buffered", length / 8 * 8);
        MPI_Recv(in, LONGEST / 8, MPI_DOUBLE, left, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        tally("receive", length / 8 * 8);
        MPI_Sendrecv(out, length, MPI_CHAR, right, 8, in, LONGEST, MPI_CHAR, left, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        tally("send", length);
        tally("receive", length);
        MPI_Sendrecv_replace(out, length, MPI_BYTE, right, 9, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &status);
        tally("send", length);
        tally("receive", length);
    }
    // A ready send, to somebody who is known to be waiting.
    for (int turn = 0; turn < 2; turn++) {
        if (rank % 2 != turn) {
            MPI_Request request;
            MPI_Irecv(in, 100, MPI_CHAR, left, 10, MPI_COMM_WORLD, &request);
            MPI_Send(out, 0, MPI_CHAR, left, 11, MPI_COMM_WORLD);
            tally("send", 0);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            tally("receive", 100);
        } else {
            MPI_Recv(in, 0, MPI_CHAR, right, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            tally("receive", 0);
            MPI_Rsend(out, 100, MPI_CHAR, right, 10, MPI_COMM_WORLD);
            tally("ready", 100);
        }
    }
    // Nobody at the other end.
    MPI_Send(out, 9, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Recv(in, 9, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
    MPI_Message nothing;
    int is_there;
    MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &nothing, &status);
    MPI_Mrecv(in, 9, MPI_CHAR, &nothing, &status);
    MPI_Improbe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &is_there, &nothing, MPI_STATUS_IGNORE);
    MPI_Mrecv(in, 9, MPI_CHAR, &nothing, MPI_STATUS_IGNORE);
    MPI_Sendrecv(out, 9, MPI_CHAR, MPI_PROC_NULL, 0, in, 9, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
    // Oneself.
    MPI_Sendrecv(out, 33, MPI_CHAR, rank, 1, in, 33, MPI_CHAR, rank, 1, MPI_COMM_WORLD, &status);
    tally("send", 33);
    tally("receive", 33);
    // A type with holes: of each of three pairs of integers the first.
    MPI_Datatype holed;
    MPI_Type_vector(3, 1, 2, MPI_INT, &holed);
    MPI_Type_commit(&holed);
    MPI_Sendrecv(out, 5, holed, right, 2, in, 15, MPI_INT, left, 2, MPI_COMM_WORLD, &status);
    tally("send", 60);
    tally("receive", 60);
    MPI_Type_free(&holed);
    // Probes find what a send that goes at once has sent.
    for (int form = 0; form < 3; form++) {
        int found = 0, count;
        MPI_Message message;
        MPI_Bsend(out, 50 + form, MPI_CHAR, right, 20 + form, MPI_COMM_WORLD);
        tally("buffered", 50 + form);
        if (form == 0) {
            MPI_Probe(left, 20, MPI_COMM_WORLD, &status);
            while (!found) {
                MPI_Iprobe(MPI_ANY_SOURCE, 20, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
            }
            MPI_Get_count(&status, MPI_CHAR, &count);
            MPI_Recv(in, count, MPI_CHAR, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (form == 1) {
            MPI_Mprobe(MPI_ANY_SOURCE, 21, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
            MPI_Mrecv(in, LONGEST, MPI_CHAR, &message, MPI_STATUS_IGNORE);
        } else {
            MPI_Request request;
            while (!found) {
                MPI_Improbe(left, MPI_ANY_TAG, MPI_COMM_WORLD, &found, &message, &status);
            }
            MPI_Imrecv(in, LONGEST, MPI_CHAR, &message, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        tally("receive", 50 + form);
    }
    look(in, sizeof in);
    void *address;
    int length;
    MPI_Buffer_detach(&address, &length);
    end();
    return 0;
}
