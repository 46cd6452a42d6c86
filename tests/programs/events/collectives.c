// Collective operations of every kind, each at once and with a request, and where the library has it, persistent.
#include "tally.h"

enum { EACH = 30, RANKS_MAX = 64 };
static int out[RANKS_MAX * RANKS_MAX], in[RANKS_MAX * RANKS_MAX];
static Count counts[RANKS_MAX];
static Place places[RANKS_MAX], places_of_bytes[RANKS_MAX];
static MPI_Datatype types[RANKS_MAX];

#if MPI_VERSION >= 4
// MPICH 4.0 cannot start the persistent ones of more than two a second time.
#define PERSISTENT(name, ...) \
    MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &request); \
    for (int time = 0; time < (size == 2 ? 2 : 1); time++) { \
        MPI_Start(&request); \
        MPI_Wait(&request, MPI_STATUS_IGNORE); \
        times++; \
    } \
    MPI_Request_free(&request);
#else
#define PERSISTENT(name, ...)
#endif

// One operation in all its forms.
#define ALL(what, given, got, name, small, ...) \
    do { \
        MPI_Request request; \
        long times = 2; \
        MPI_##name(__VA_ARGS__); \
        MPI_I##small(__VA_ARGS__, &request); \
        MPI_Wait(&request, MPI_STATUS_IGNORE); \
        PERSISTENT(name, __VA_ARGS__) \
        tally_times(what, times, times * (given)); \
        tally_times("got", times, times * (got)); \
    } while (0)

// Between two groups, even ranks and odd ones: what has a root goes from rank 0 to the odd ones or from them to it, and the other
// even ones take no part.
static void between_groups(MPI_Comm all) {
    MPI_Comm half, between;
    int theirs, is_odd = rank % 2, is_root = rank == 0;
    int root = is_odd ? 0 : is_root ? MPI_ROOT : MPI_PROC_NULL;
    MPI_Comm_split(all, is_odd, rank, &half);
    MPI_Intercomm_create(half, 0, all, is_odd ? 0 : 1, 3, &between);
    MPI_Comm_remote_size(between, &theirs);
    long part = EACH * sizeof(int), parts = part * theirs;
    ALL("barrier", 0, 0, Barrier, barrier, between);
    ALL("broadcast", is_root * part, is_odd * part, Bcast, bcast, out, EACH, MPI_INT, root, between);
    ALL("scatter", is_root * parts, is_odd * part, Scatter, scatter, out, EACH, MPI_INT, in, EACH, MPI_INT, root, between);
    ALL("gather", is_odd * part, is_root * parts, Gather, gather, out, EACH, MPI_INT, in, EACH, MPI_INT, root, between);
    ALL("reduce", is_odd * part, is_root * part, Reduce, reduce, out, in, EACH, MPI_INT, MPI_SUM, root, between);
    ALL("all-reduce", part, part, Allreduce, allreduce, out, in, EACH, MPI_INT, MPI_SUM, between);
    ALL("all-gather", part, parts, Allgather, allgather, out, EACH, MPI_INT, in, EACH, MPI_INT, between);
    ALL("all-to-all", parts, parts, Alltoall, alltoall, out, EACH, MPI_INT, in, EACH, MPI_INT, between);
    Count equal[RANKS_MAX];
    Place equal_at[RANKS_MAX];
    for (int at = 0; at < theirs; at++) {
        equal[at] = EACH;
        equal_at[at] = EACH * at;
    }
    ALL("scatter", is_root * parts, is_odd * part, Scatterv, scatterv, out, equal, equal_at, MPI_INT, in, EACH, MPI_INT, root, between);
    ALL("gather", is_odd * part, is_root * parts, Gatherv, gatherv, out, EACH, MPI_INT, in, equal, equal_at, MPI_INT, root, between);
    ALL("all-gather", part, parts, Allgatherv, allgatherv, out, EACH, MPI_INT, in, equal, equal_at, MPI_INT, between);
    ALL("all-to-all", parts, parts, Alltoallv, alltoallv, out, equal, equal_at, MPI_INT, in, equal, equal_at, MPI_INT, between);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
    tally_times("make", 4, 0);
}

// One operation among neighbours, of which the rank gets from so many and gives to so many.
static void among_neighbours(MPI_Comm graph, int from, int to) {
    long part = EACH * sizeof(int);
    ALL("neighbours", to * part, from * part, Neighbor_allgather, neighbor_allgather, out, EACH, MPI_INT, in, EACH, MPI_INT, graph);
    ALL("neighbours", to * part, from * part, Neighbor_alltoall, neighbor_alltoall, out, EACH, MPI_INT, in, EACH, MPI_INT, graph);
    MPI_Comm_free(&graph);
    tally_times("make", 2, 0);
}

// Neighbours who are not two: in graphs, and at the ends of a grid that is no ring.
static void uneven_neighbours(MPI_Comm all) {
    MPI_Comm graph;
    int ends_at[RANKS_MAX], others[RANKS_MAX], is_first = rank == 0, first = 0, open = 0;
    for (int at = 0; at < size; at++) {
        // Rank 0 has all others, and they have it.
        ends_at[at] = size - 1 + at;
        others[at] = at + 1;
    }
    int edges[2 * RANKS_MAX] = {0};
    memcpy(edges, others, (size - 1) * sizeof *edges);
    MPI_Graph_create(all, size, ends_at, edges, 0, &graph);
    among_neighbours(graph, is_first ? size - 1 : 1, is_first ? size - 1 : 1);
    // Rank 0 gives to all others, and they to nobody.
    MPI_Dist_graph_create_adjacent(all, !is_first, &first, MPI_UNWEIGHTED, is_first ? size - 1 : 0, others, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &graph);
    among_neighbours(graph, !is_first, is_first ? size - 1 : 0);
    int neighbours = (rank > 0) + (rank < size - 1);
    MPI_Cart_create(all, 1, &size, &open, 0, &graph);
    Count two[2] = {4, 5};
    Place two_at[2] = {0, 4};
    int given = 4 * ((rank > 0) * 4 + (rank < size - 1) * 5), got[2] = {5, 4};
    Count gets[2] = {got[0], got[1]};
    Place gets_at[2] = {0, 5};
    ALL("neighbours", given, 4 * ((rank > 0) * 5 + (rank < size - 1) * 4), Neighbor_alltoallv, neighbor_alltoallv, out, two, two_at,
        MPI_INT, in, gets, gets_at, MPI_INT, graph);
    among_neighbours(graph, neighbours, neighbours);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    fill(out, sizeof out);
    MPI_Comm all = MPI_COMM_WORLD, grid;
    // The part of rank r is r + 1 elements long.
    int sum = 0, int_size = sizeof(int);
    for (int at = 0; at < size; at++) {
        counts[at] = at + 1;
        places[at] = sum;
        places_of_bytes[at] = sum * int_size;
        types[at] = MPI_INT;
        sum += at + 1;
    }
    int own = rank + 1, root = size - 1, is_root = rank == root;
    long part = EACH * sizeof(int), parts = part * size, uneven = sum * sizeof(int), mine = own * sizeof(int);
    ALL("barrier", 0, 0, Barrier, barrier, all);
    ALL("broadcast", is_root ? part : 0, is_root ? 0 : part, Bcast, bcast, out, EACH, MPI_INT, root, all);
    ALL("scatter", is_root ? parts : 0, part, Scatter, scatter, out, EACH, MPI_INT, in, EACH, MPI_INT, root, all);
    ALL("scatter", is_root ? uneven : 0, mine, Scatterv, scatterv, out, counts, places, MPI_INT, in, own, MPI_INT, root, all);
    ALL("gather", part, is_root ? parts : 0, Gather, gather, out, EACH, MPI_INT, in, EACH, MPI_INT, root, all);
    ALL("gather", mine, is_root ? uneven : 0, Gatherv, gatherv, out, own, MPI_INT, in, counts, places, MPI_INT, root, all);
    ALL("reduce", part, is_root ? part : 0, Reduce, reduce, out, in, EACH, MPI_INT, MPI_SUM, root, all);
    ALL("all-reduce", part, part, Allreduce, allreduce, out, in, EACH, MPI_INT, MPI_SUM, all);
    ALL("all-gather", part, parts, Allgather, allgather, out, EACH, MPI_INT, in, EACH, MPI_INT, all);
    ALL("all-gather", mine, uneven, Allgatherv, allgatherv, out, own, MPI_INT, in, counts, places, MPI_INT, all);
    ALL("all-to-all", parts, parts, Alltoall, alltoall, out, EACH, MPI_INT, in, EACH, MPI_INT, all);
    // Each gives rank r so many elements as that has for its own, so it gets as many from each.
    Count gets[RANKS_MAX];
    Place gets_at[RANKS_MAX], gets_at_bytes[RANKS_MAX];
    for (int at = 0; at < size; at++) {
        gets[at] = own;
        gets_at[at] = own * at;
        gets_at_bytes[at] = own * at * int_size;
    }
    ALL("all-to-all", uneven, mine * size, Alltoallv, alltoallv, out, counts, places, MPI_INT, in, gets, gets_at, MPI_INT, all);
    ALL("all-to-all", uneven, mine * size, Alltoallw, alltoallw, out, counts, places_of_bytes, types, in, gets, gets_at_bytes, types, all);
    ALL("reduce-scatter", uneven, mine, Reduce_scatter, reduce_scatter, out, in, counts, MPI_INT, MPI_SUM, all);
    ALL("reduce-scatter", parts, part, Reduce_scatter_block, reduce_scatter_block, out, in, EACH, MPI_INT, MPI_SUM, all);
    ALL("scan", part, part, Scan, scan, out, in, EACH, MPI_INT, MPI_SUM, all);
    ALL("exclusive scan", part, rank ? part : 0, Exscan, exscan, out, in, EACH, MPI_INT, MPI_SUM, all);
    // In place: the own part is among what is got. What does not count is not looked at.
    MPI_Allreduce(MPI_IN_PLACE, in, EACH, MPI_INT, MPI_SUM, all);
    together("all-reduce", part, part);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, EACH, MPI_INT, all);
    together("all-gather", part, parts);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, EACH, MPI_INT, all);
    together("all-to-all", parts, parts);
    MPI_Reduce(is_root ? MPI_IN_PLACE : out, in, EACH, MPI_INT, MPI_SUM, root, all);
    together("reduce", part, is_root ? part : 0);
    MPI_Scatter(out, EACH, MPI_INT, is_root ? MPI_IN_PLACE : in, EACH, MPI_INT, root, all);
    together("scatter", is_root ? parts : 0, part);
    MPI_Reduce_scatter(MPI_IN_PLACE, in, counts, MPI_INT, MPI_SUM, all);
    together("reduce-scatter", uneven, mine);
    MPI_Scan(MPI_IN_PLACE, in, EACH, MPI_INT, MPI_SUM, all);
    together("scan", part, part);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, counts, places, MPI_INT, all);
    together("all-gather", mine, uneven);
    MPI_Gather(is_root ? MPI_IN_PLACE : out, EACH, MPI_INT, is_root ? in : NULL, is_root ? EACH : -1,
               is_root ? MPI_INT : MPI_DATATYPE_NULL, root, all);
    together("gather", part, is_root ? parts : 0);
    // Neighbours: on a ring each has two of them, whoever they are.
    int periodic = 1;
    MPI_Cart_create(all, 1, &size, &periodic, 0, &grid);
    tally("make", 0);
    Count two[2] = {4, 4}, equal[2] = {EACH, EACH};
    Place two_at[2] = {0, 4}, equal_at[2] = {0, EACH};
    MPI_Aint two_at_bytes[2] = {0, 4 * sizeof(int)};
    MPI_Datatype two_types[2] = {MPI_INT, MPI_INT};
    ALL("neighbours", 2 * part, 2 * part, Neighbor_allgather, neighbor_allgather, out, EACH, MPI_INT, in, EACH, MPI_INT, grid);
    ALL("neighbours", 2 * part, 2 * part, Neighbor_alltoall, neighbor_alltoall, out, EACH, MPI_INT, in, EACH, MPI_INT, grid);
    ALL("neighbours", 2 * part, 2 * part, Neighbor_allgatherv, neighbor_allgatherv, out, EACH, MPI_INT, in, equal, equal_at, MPI_INT, grid);
    ALL("neighbours", 32, 32, Neighbor_alltoallv, neighbor_alltoallv, out, two, two_at, MPI_INT, in, two, two_at, MPI_INT, grid);
    ALL("neighbours", 32, 32, Neighbor_alltoallw, neighbor_alltoallw, out, two, two_at_bytes, two_types, in, two, two_at_bytes, two_types, grid);
    MPI_Comm_free(&grid);
    tally("make", 0);
    uneven_neighbours(all);
    between_groups(all);
    look(in, sizeof in);
    end();
    return 0;
}
