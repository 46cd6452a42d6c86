// One-sided transfers of every kind, and what synchronises them.
#include "tally.h"

enum { EACH = 25 };

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int right = (rank + 1) % size, left = (rank + size - 1) % size, done = 0;
    int out[EACH], in[EACH], own[4 * EACH] = {0}, *given;
    fill(out, sizeof out);
    long part = sizeof out;
    MPI_Win window, other;
    MPI_Group all, rights, lefts;
    MPI_Request request;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &right, &rights);
    MPI_Group_incl(all, 1, &left, &lefts);
    MPI_Win_create(own, sizeof own, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_allocate(part, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &given, &other);
    tally_times("make", 2, 0);
    MPI_Win_fence(0, window);
    MPI_Put(out, EACH, MPI_INT, right, 0, EACH, MPI_INT, window);
    tally("put", part);
    MPI_Win_fence(0, window);
    MPI_Get(in, EACH, MPI_INT, left, 0, EACH, MPI_INT, window);
    tally("get", part);
    MPI_Put(out, EACH, MPI_INT, MPI_PROC_NULL, 0, EACH, MPI_INT, window);
    MPI_Win_fence(0, window);
    MPI_Accumulate(out, EACH, MPI_INT, right, EACH, EACH, MPI_INT, MPI_SUM, window);
    tally("accumulate", part);
    MPI_Win_fence(0, window);
    tally_times("fence", 4, 0);
    MPI_Win_post(lefts, 0, other);
    MPI_Win_start(rights, 0, other);
    MPI_Put(out, 3, MPI_INT, right, 0, 3, MPI_INT, other);
    tally("put", 12);
    MPI_Win_complete(other);
    if (rank % 2) {
        MPI_Win_wait(other);
    } else {
        while (!done) {
            MPI_Win_test(other, &done);
        }
    }
    tally("post", 0);
    tally("start", 0);
    tally("complete", 0);
    tally("wait", 0);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, window);
    MPI_Rput(out, EACH, MPI_INT, right, 0, EACH, MPI_INT, window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    tally("put", part);
    MPI_Win_flush(right, window);
    MPI_Win_flush_local(right, window);
    MPI_Win_unlock(right, window);
    tally("lock exclusive", 0);
    tally_times("flush", 2, 0);
    tally("unlock", 0);
    MPI_Win_lock(MPI_LOCK_SHARED, left, 0, window);
    MPI_Rget(in, EACH, MPI_INT, left, 0, EACH, MPI_INT, window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    tally("get", part);
    MPI_Win_unlock(left, window);
    tally("lock shared", 0);
    tally("unlock", 0);
    MPI_Win_lock_all(0, window);
    int one = 1, zero = 0, found;
    MPI_Get_accumulate(out, EACH, MPI_INT, in, EACH, MPI_INT, right, EACH, EACH, MPI_INT, MPI_SUM, window);
    MPI_Raccumulate(out, EACH, MPI_INT, right, EACH, EACH, MPI_INT, MPI_SUM, window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Rget_accumulate(out, EACH, MPI_INT, in, EACH, MPI_INT, right, EACH, EACH, MPI_INT, MPI_SUM, window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    tally_times("accumulate", 3, 3 * part);
    MPI_Fetch_and_op(&one, &found, MPI_INT, right, 2 * EACH, MPI_SUM, window);
    MPI_Win_flush_all(window);
    MPI_Compare_and_swap(&one, &zero, &found, MPI_INT, right, 2 * EACH + 1, window);
    MPI_Win_flush_local_all(window);
    tally_times("accumulate", 2, 8);
    tally_times("flush", 2, 0);
    MPI_Win_unlock_all(window);
    tally("lock all", 0);
    tally("unlock all", 0);
    MPI_Barrier(MPI_COMM_WORLD);
    together("barrier", 0, 0);
    look(in, sizeof in);
    look(own, sizeof own);
    MPI_Win_free(&other);
    MPI_Win_free(&window);
    // Memory that comes into a window afterwards is known to others by its address.
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_attach(window, own, sizeof own);
    MPI_Aint address, address_there;
    MPI_Get_address(own, &address);
    MPI_Sendrecv(&address, 1, MPI_AINT, left, 0, &address_there, 1, MPI_AINT, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    tally("send", sizeof address);
    tally("receive", sizeof address);
    MPI_Win_fence(0, window);
    MPI_Put(out, EACH, MPI_INT, right, address_there, EACH, MPI_INT, window);
    tally("put", part);
    MPI_Win_fence(0, window);
    tally_times("fence", 2, 0);
    MPI_Win_detach(window, own);
    MPI_Win_free(&window);
    MPI_Win_allocate_shared(part, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &given, &window);
    MPI_Win_free(&window);
    tally_times("make", 6, 0);
    MPI_Group_free(&all);
    MPI_Group_free(&rights);
    MPI_Group_free(&lefts);
    end();
    return 0;
}
