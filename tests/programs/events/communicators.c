// Communicators of every kind, each with a message on it from its first to its last member, who say whom they know it by: a
// line "RANK peer RANK_IN_THE_WORLD" for each message.
#include "tally.h"

static void message(MPI_Comm on, int from_rank, int to_rank, int own, int world_peer_of_sender, int world_peer_of_receiver) {
    char bytes[77] = "";
    if (own == from_rank) {
        MPI_Send(bytes, 77, MPI_CHAR, to_rank, 0, on);
        tally("send", 77);
        printf("%d to %d\n", rank, world_peer_of_sender);
    } else if (own == to_rank) {
        MPI_Recv(bytes, 77, MPI_CHAR, MPI_ANY_SOURCE, 0, on, MPI_STATUS_IGNORE);
        tally("receive", 77);
        printf("%d from %d\n", rank, world_peer_of_receiver);
    }
}

// From the first member of a communicator to the last, if they are two.
static void ends(MPI_Comm on) {
    int own, members;
    MPI_Group all, group;
    MPI_Comm_rank(on, &own);
    MPI_Comm_size(on, &members);
    if (members < 2) {
        return;
    }
    int first_and_last[2] = {0, members - 1}, world[2];
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_group(on, &group);
    MPI_Group_translate_ranks(group, 2, first_and_last, all, world);
    MPI_Group_free(&all);
    MPI_Group_free(&group);
    message(on, 0, members - 1, own, world[1], world[0]);
}

static void make(void) {
    tally("make", 0);
}

static void give_up(MPI_Comm *one) {
    MPI_Comm_free(one);
    make();
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_Comm all = MPI_COMM_WORLD, one, other;
    MPI_Request request;
    MPI_Group everybody, some;
    // The same members twice: told apart by when they were made.
    MPI_Comm_dup(all, &one);
    make();
    MPI_Comm_dup_with_info(all, MPI_INFO_NULL, &other);
    make();
    ends(other);
    ends(one);
    give_up(&one);
    give_up(&other);
    MPI_Comm_idup(all, &one, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    make();
    ends(one);
    MPI_Comm_disconnect(&one);
    make();
#if MPI_VERSION >= 4
    MPI_Comm_idup_with_info(all, MPI_INFO_NULL, &one, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    make();
    ends(one);
    give_up(&one);
#endif
    // Backwards, and in two parts.
    MPI_Comm_split(all, 0, -rank, &one);
    make();
    ends(one);
    give_up(&one);
    MPI_Comm_split(all, rank % 2, rank, &one);
    make();
    ends(one);
    // Between the parts: each talks to the others' last.
    MPI_Intercomm_create(one, 0, all, rank % 2 ? 0 : 1, 3, &other);
    make();
    int own, theirs;
    MPI_Comm_rank(other, &own);
    MPI_Comm_remote_size(other, &theirs);
    int last_of_theirs = 2 * (theirs - 1) + (rank % 2 ? 0 : 1);
    int last_of_ours = 2 * ((size + 1 - rank % 2) / 2 - 1) + rank % 2;
    if (rank == 0) {
        message(other, 0, theirs - 1, 0, last_of_theirs, -1);
    } else if (rank == last_of_ours && rank % 2) {
        message(other, -1, own, own, -1, 0);
    }
    int value = 1, is_root = rank == 0;
    MPI_Bcast(&value, 1, MPI_INT, rank % 2 ? 0 : is_root ? MPI_ROOT : MPI_PROC_NULL, other);
    together("broadcast", is_root ? 4 : 0, rank % 2 ? 4 : 0);
    // A copy of it, and parts: between the first of each side, and the others.
    MPI_Comm copy, part;
    MPI_Comm_dup(other, &copy);
    make();
    MPI_Barrier(copy);
    together("barrier", 0, 0);
    MPI_Comm_split(copy, rank > 1, rank, &part);
    make();
    MPI_Barrier(part);
    together("barrier", 0, 0);
    give_up(&part);
    give_up(&copy);
    MPI_Comm merged;
    MPI_Intercomm_merge(other, rank % 2, &merged);
    make();
    ends(merged);
    give_up(&merged);
    give_up(&other);
    give_up(&one);
    MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &one);
    make();
    ends(one);
    give_up(&one);
    // All but the last.
    MPI_Comm_group(all, &everybody);
    int last = size - 1;
    MPI_Group_excl(everybody, 1, &last, &some);
    MPI_Comm_create(all, some, &one);
    make();
    if (one != MPI_COMM_NULL) {
        ends(one);
        give_up(&one);
    }
    if (rank != last) {
        MPI_Comm_create_group(all, some, 4, &one);
        make();
        ends(one);
        give_up(&one);
    }
    MPI_Group_free(&some);
    MPI_Group_free(&everybody);
    // Topologies.
    int extents[2] = {size / 2, 2}, periods[2] = {1, 0}, keep[2] = {1, 0};
    MPI_Cart_create(all, 2, extents, periods, 0, &one);
    make();
    ends(one);
    MPI_Cart_sub(one, keep, &other);
    make();
    ends(other);
    give_up(&other);
    MPI_Comm_dup(one, &other);
    make();
    give_up(&other);
    give_up(&one);
    int ends_at[64], next[64], weights[1] = {1}, degree = 1, right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int at = 0; at < size; at++) {
        ends_at[at] = at + 1;
        next[at] = (at + 1) % size;
    }
    MPI_Graph_create(all, size, ends_at, next, 0, &one);
    make();
    ends(one);
    give_up(&one);
    MPI_Dist_graph_create(all, 1, &rank, &degree, &right, weights, MPI_INFO_NULL, 0, &one);
    make();
    ends(one);
    give_up(&one);
    MPI_Dist_graph_create_adjacent(all, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &one);
    make();
    ends(one);
    give_up(&one);
    ends(all);
    end();
    return 0;
}
