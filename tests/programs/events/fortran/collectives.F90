! Collective operations of every kind, each at once and with a request, and where the library has it, persistent.
#include "handles.h"
#define EACH 30
#define MOST 64
#if defined(RECENT)
#define PERSISTENTLY(name, rest) call name rest; call start_and_finish()
#else
#define PERSISTENTLY(name, rest)
#endif
subroutine collectives()
  use tallies
  implicit none
  integer, save :: out(MOST * MOST) = 0, in(MOST * MOST)
  integer, dimension(MOST) :: counts, places, places_of_bytes, gets, gets_at, gets_at_bytes
  TYPES :: types(MOST)
  COMM :: all, grid
  REQUEST :: request
  logical :: is_root
  integer :: at, own, root, part, parts, uneven, mine, times, to_root, from_root
  integer :: two(2) = 4, two_at(2) = [0, 4], equal(2) = EACH, equal_at(2) = [0, EACH]
  integer(MPI_ADDRESS_KIND) :: two_at_bytes(2) = [0, 16]
  TYPES :: two_types(2)
  all = MPI_COMM_WORLD
  ! The part of rank r is r + 1 elements long, and each gets as many from each as it has for its own.
  own = rank + 1
  do at = 1, ranks
    counts(at) = at
    places(at) = (at - 1) * at / 2
    gets(at) = own
    gets_at(at) = own * (at - 1)
  end do
  places_of_bytes = 4 * places
  gets_at_bytes = 4 * gets_at
  types = MPI_INTEGER
  root = ranks - 1
  is_root = rank == root
  part = 4 * EACH
  parts = part * ranks
  uneven = 4 * (ranks * (ranks + 1) / 2)
  mine = 4 * own
  times = 2
#if defined(RECENT)
  times = 3
#endif
  to_root = merge(1, 0, is_root)
  from_root = 1 - to_root

  call MPI_Barrier(all, error)
  call MPI_Ibarrier(all, request, error); call finish()
  PERSISTENTLY(MPI_Barrier_init, (all, MPI_INFO_NULL, request, error))
  call together('barrier', times, 0, 0)

  call MPI_Bcast(out, EACH, MPI_INTEGER, root, all, error)
  call MPI_Ibcast(out, EACH, MPI_INTEGER, root, all, request, error); call finish()
  PERSISTENTLY(MPI_Bcast_init, (out, EACH, MPI_INTEGER, root, all, MPI_INFO_NULL, request, error))
  call together('broadcast', times, to_root * part, from_root * part)

  call MPI_Scatter(out, EACH, MPI_INTEGER, in, EACH, MPI_INTEGER, root, all, error)
  call MPI_Iscatter(out, EACH, MPI_INTEGER, in, EACH, MPI_INTEGER, root, all, request, error); call finish()
  PERSISTENTLY(MPI_Scatter_init, (out, EACH, MPI_INTEGER, in, EACH, MPI_INTEGER, root, all, MPI_INFO_NULL, request, error))
  call together('scatter', times, to_root * parts, part)

  call MPI_Scatterv(out, counts, places, MPI_INTEGER, in, own, MPI_INTEGER, root, all, error)
  call MPI_Iscatterv(out, counts, places, MPI_INTEGER, in, own, MPI_INTEGER, root, all, request, error); call finish()
  PERSISTENTLY(MPI_Scatterv_init, (out, counts, places, MPI_INTEGER, in, own, MPI_INTEGER, root, all, MPI_INFO_NULL, request, error))
  call together('scatter', times, to_root * uneven, mine)

  call MPI_Gather(out, EACH, MPI_INTEGER, in, EACH, MPI_INTEGER, root, all, error)
  call MPI_Igather(out, EACH, MPI_INTEGER, in, EACH, MPI_INTEGER, root, all, request, error); call finish()
  PERSISTENTLY(MPI_Gather_init, (out, EACH, MPI_INTEGER, in, EACH, MPI_INTEGER, root, all, MPI_INFO_NULL, request, error))
  call together('gather', times, part, to_root * parts)

  call MPI_Gatherv(out, own, MPI_INTEGER, in, counts, places, MPI_INTEGER, root, all, error)
  call MPI_Igatherv(out, own, MPI_INTEGER, in, counts, places, MPI_INTEGER, root, all, request, error); call finish()
  PERSISTENTLY(MPI_Gatherv_init, (out, own, MPI_INTEGER, in, counts, places, MPI_INTEGER, root, all, MPI_INFO_NULL, request, error))
  call together('gather', times, mine, to_root * uneven)

  call MPI_Reduce(out, in, EACH, MPI_INTEGER, MPI_SUM, root, all, error)
  call MPI_Ireduce(out, in, EACH, MPI_INTEGER, MPI_SUM, root, all, request, error); call finish()
  PERSISTENTLY(MPI_Reduce_init, (out, in, EACH, MPI_INTEGER, MPI_SUM, root, all, MPI_INFO_NULL, request, error))
  call together('reduce', times, part, to_root * part)

  call MPI_Allreduce(out, in, EACH, MPI_INTEGER, MPI_SUM, all, error)
  call MPI_Iallreduce(out, in, EACH, MPI_INTEGER, MPI_SUM, all, request, error); call finish()
  PERSISTENTLY(MPI_Allreduce_init, (out, in, EACH, MPI_INTEGER, MPI_SUM, all, MPI_INFO_NULL, request, error))
  call together('all-reduce', times, part, part)

  call MPI_Allgather(out, EACH, MPI_INTEGER, in, EACH, MPI_INTEGER, all, error)
  call MPI_Iallgather(out, EACH, MPI_INTEGER, in, EACH, MPI_INTEGER, all, request, error); call finish()
  PERSISTENTLY(MPI_Allgather_init, (out, EACH, MPI_INTEGER, in, EACH, MPI_INTEGER, all, MPI_INFO_NULL, request, error))
  call together('all-gather', times, part, parts)

  call MPI_Allgatherv(out, own, MPI_INTEGER, in, counts, places, MPI_INTEGER, all, error)
  call MPI_Iallgatherv(out, own, MPI_INTEGER, in, counts, places, MPI_INTEGER, all, request, error); call finish()
  PERSISTENTLY(MPI_Allgatherv_init, (out, own, MPI_INTEGER, in, counts, places, MPI_INTEGER, all, MPI_INFO_NULL, request, error))
  call together('all-gather', times, mine, uneven)

  call MPI_Alltoall(out, EACH, MPI_INTEGER, in, EACH, MPI_INTEGER, all, error)
  call MPI_Ialltoall(out, EACH, MPI_INTEGER, in, EACH, MPI_INTEGER, all, request, error); call finish()
  PERSISTENTLY(MPI_Alltoall_init, (out, EACH, MPI_INTEGER, in, EACH, MPI_INTEGER, all, MPI_INFO_NULL, request, error))
  call together('all-to-all', times, parts, parts)

  call MPI_Alltoallv(out, counts, places, MPI_INTEGER, in, gets, gets_at, MPI_INTEGER, all, error)
  call MPI_Ialltoallv(out, counts, places, MPI_INTEGER, in, gets, gets_at, MPI_INTEGER, all, request, error); call finish()
  PERSISTENTLY(MPI_Alltoallv_init, (out, counts, places, MPI_INTEGER, in, gets, gets_at, MPI_INTEGER, all, MPI_INFO_NULL, request, error))
  call MPI_Alltoallw(out, counts, places_of_bytes, types, in, gets, gets_at_bytes, types, all, error)
  call MPI_Ialltoallw(out, counts, places_of_bytes, types, in, gets, gets_at_bytes, types, all, request, error); call finish()
  PERSISTENTLY(MPI_Alltoallw_init, (out, counts, places_of_bytes, types, in, gets, gets_at_bytes, types, all, MPI_INFO_NULL, request, error))
  call together('all-to-all', 2 * times, uneven, mine * ranks)

  call MPI_Reduce_scatter(out, in, counts, MPI_INTEGER, MPI_SUM, all, error)
  call MPI_Ireduce_scatter(out, in, counts, MPI_INTEGER, MPI_SUM, all, request, error); call finish()
  PERSISTENTLY(MPI_Reduce_scatter_init, (out, in, counts, MPI_INTEGER, MPI_SUM, all, MPI_INFO_NULL, request, error))
  call together('reduce-scatter', times, uneven, mine)

  call MPI_Reduce_scatter_block(out, in, EACH, MPI_INTEGER, MPI_SUM, all, error)
  call MPI_Ireduce_scatter_block(out, in, EACH, MPI_INTEGER, MPI_SUM, all, request, error); call finish()
  PERSISTENTLY(MPI_Reduce_scatter_block_init, (out, in, EACH, MPI_INTEGER, MPI_SUM, all, MPI_INFO_NULL, request, error))
  call together('reduce-scatter', times, parts, part)

  call MPI_Scan(out, in, EACH, MPI_INTEGER, MPI_SUM, all, error)
  call MPI_Iscan(out, in, EACH, MPI_INTEGER, MPI_SUM, all, request, error); call finish()
  PERSISTENTLY(MPI_Scan_init, (out, in, EACH, MPI_INTEGER, MPI_SUM, all, MPI_INFO_NULL, request, error))
  call together('scan', times, part, part)

  call MPI_Exscan(out, in, EACH, MPI_INTEGER, MPI_SUM, all, error)
  call MPI_Iexscan(out, in, EACH, MPI_INTEGER, MPI_SUM, all, request, error); call finish()
  PERSISTENTLY(MPI_Exscan_init, (out, in, EACH, MPI_INTEGER, MPI_SUM, all, MPI_INFO_NULL, request, error))
  call together('exclusive scan', times, part, merge(part, 0, rank > 0))

  ! In place: the own part is among what is got. What does not count is not looked at.
  call MPI_Allreduce(MPI_IN_PLACE, in, EACH, MPI_INTEGER, MPI_SUM, all, error)
  call together('all-reduce', 1, part, part)
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, EACH, MPI_INTEGER, all, error)
  call together('all-gather', 1, part, parts)
  call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, EACH, MPI_INTEGER, all, error)
  call together('all-to-all', 1, parts, parts)
  if (is_root) then
    call MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, EACH, MPI_INTEGER, root, all, error)
  else
    call MPI_Gather(out, EACH, MPI_INTEGER, in, -1, MPI_DATATYPE_NULL, root, all, error)
  end if
  call together('gather', 1, part, to_root * parts)

  ! Neighbours: on a ring each has two of them, whoever they are.
  call MPI_Cart_create(all, 1, [ranks], [.true.], .false., grid, error)
  two_types = MPI_INTEGER
  call MPI_Neighbor_allgather(out, EACH, MPI_INTEGER, in, EACH, MPI_INTEGER, grid, error)
  call MPI_Ineighbor_allgather(out, EACH, MPI_INTEGER, in, EACH, MPI_INTEGER, grid, request, error); call finish()
  PERSISTENTLY(MPI_Neighbor_allgather_init, (out, EACH, MPI_INTEGER, in, EACH, MPI_INTEGER, grid, MPI_INFO_NULL, request, error))
  call MPI_Neighbor_allgatherv(out, EACH, MPI_INTEGER, in, equal, equal_at, MPI_INTEGER, grid, error)
  call MPI_Ineighbor_allgatherv(out, EACH, MPI_INTEGER, in, equal, equal_at, MPI_INTEGER, grid, request, error); call finish()
  PERSISTENTLY(MPI_Neighbor_allgatherv_init, (out, EACH, MPI_INTEGER, in, equal, equal_at, MPI_INTEGER, grid, MPI_INFO_NULL, request, error))
  call MPI_Neighbor_alltoall(out, EACH, MPI_INTEGER, in, EACH, MPI_INTEGER, grid, error)
  call MPI_Ineighbor_alltoall(out, EACH, MPI_INTEGER, in, EACH, MPI_INTEGER, grid, request, error); call finish()
  PERSISTENTLY(MPI_Neighbor_alltoall_init, (out, EACH, MPI_INTEGER, in, EACH, MPI_INTEGER, grid, MPI_INFO_NULL, request, error))
  call together('neighbours', 3 * times, 2 * part, 2 * part)
  call MPI_Neighbor_alltoallv(out, two, two_at, MPI_INTEGER, in, two, two_at, MPI_INTEGER, grid, error)
  call MPI_Ineighbor_alltoallv(out, two, two_at, MPI_INTEGER, in, two, two_at, MPI_INTEGER, grid, request, error); call finish()
  PERSISTENTLY(MPI_Neighbor_alltoallv_init, (out, two, two_at, MPI_INTEGER, in, two, two_at, MPI_INTEGER, grid, MPI_INFO_NULL, request, error))
  call MPI_Comm_free(grid, error)
  ! The same ring as a graph, which is what MPICH's mpi_f08 takes every topology for in these.
  call MPI_Dist_graph_create_adjacent(all, 2, [left, right], MPI_UNWEIGHTED, 2, [left, right], MPI_UNWEIGHTED, MPI_INFO_NULL, &
                                      .false., grid, error)
  call MPI_Neighbor_alltoallw(out, two, two_at_bytes, two_types, in, two, two_at_bytes, two_types, grid, error)
  call MPI_Ineighbor_alltoallw(out, two, two_at_bytes, two_types, in, two, two_at_bytes, two_types, grid, request, error); call finish()
  PERSISTENTLY(MPI_Neighbor_alltoallw_init, (out, two, two_at_bytes, two_types, in, two, two_at_bytes, two_types, grid, MPI_INFO_NULL, request, error))
  call MPI_Comm_free(grid, error)
  call together('neighbours', 2 * times, 32, 32)
  call tally('make', 4, 0)
contains
  subroutine finish()
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
  end subroutine

  subroutine start_and_finish()
    call MPI_Start(request, error)
    call finish()
    call MPI_Request_free(request, error)
  end subroutine
end subroutine
