! Communicators of every kind, each with a message on it from its first to its last member.
#include "handles.h"
subroutine communicators()
  use tallies
  implicit none
  COMM :: all, one, other, merged
  GROUP :: everybody, some
  REQUEST :: request
  integer :: color, value(1), is_root, at
  all = MPI_COMM_WORLD
  ! The same members twice: told apart by when they were made.
  call MPI_Comm_dup(all, one, error)
  call MPI_Comm_dup_with_info(all, MPI_INFO_NULL, other, error)
  call ends(other)
  call give_up(one)
  call give_up(other)
  call MPI_Comm_idup(all, one, request, error)
  call MPI_Wait(request, MPI_STATUS_IGNORE, error)
  call ends(one)
  call MPI_Comm_disconnect(one, error)
  call tally('make', 4, 0)
  ! Backwards, and in two parts.
  call MPI_Comm_split(all, 0, -rank, one, error)
  call made(one)
  color = mod(rank, 2)
  call MPI_Comm_split(all, color, rank, one, error)
  call tally('make', 1, 0)
  call ends(one)
  ! Between the parts: each sends to the first of the others, and the first of all to all of the others.
  call MPI_Intercomm_create(one, 0, all, merge(1, 0, color == 0), 3, other, error)
  call tally('make', 1, 0)
  if (rank < 2) then
    call MPI_Sendrecv([rank], 1, MPI_INTEGER, 0, 5, value, 1, MPI_INTEGER, MPI_ANY_SOURCE, 5, other, MPI_STATUS_IGNORE, error)
    call tally('send', 1, 4)
    call tally('receive', 1, 4)
  end if
  is_root = merge(1, 0, rank == 0)
  call MPI_Bcast(value, 1, MPI_INTEGER, merge(0, merge(MPI_ROOT, MPI_PROC_NULL, rank == 0), color == 1), other, error)
  call together('broadcast', 1, 4 * is_root, 4 * color)
  call MPI_Intercomm_merge(other, color == 1, merged, error)
  call made(merged)
  call give_up(other)
  call give_up(one)
  call MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, one, error)
  call made(one)
  ! All but the last.
  call MPI_Comm_group(all, everybody, error)
  call MPI_Group_excl(everybody, 1, [ranks - 1], some, error)
  call MPI_Comm_create(all, some, one, error)
  if (one /= MPI_COMM_NULL) then
    call made(one)
  else
    call tally('make', 1, 0)
  end if
  if (rank < ranks - 1) then
    call MPI_Comm_create_group(all, some, 4, one, error)
    call made(one)
  end if
  call MPI_Group_free(some, error)
  call MPI_Group_free(everybody, error)
  ! Topologies.
  call MPI_Cart_create(all, 2, [ranks / 2, 2], [.true., .false.], .false., one, error)
  call MPI_Cart_sub(one, [.true., .false.], other, error)
  call made(other)
  call MPI_Comm_dup(one, other, error)
  call made(other)
  call made(one)
  call MPI_Graph_create(all, ranks, [(at, at = 1, ranks)], [(mod(at, ranks), at = 1, ranks)], .false., one, error)
  call made(one)
  call MPI_Dist_graph_create(all, 1, [rank], [1], [right], [1], MPI_INFO_NULL, .false., one, error)
  call made(one)
  call MPI_Dist_graph_create_adjacent(all, 1, [left], MPI_UNWEIGHTED, 1, [right], MPI_UNWEIGHTED, MPI_INFO_NULL, .false., one, &
                                      error)
  call made(one)
contains
  subroutine give_up(comm)
    COMM :: comm
    call MPI_Comm_free(comm, error)
    call tally('make', 1, 0)
  end subroutine

  ! A new one is used and given up.
  subroutine made(comm)
    COMM :: comm
    call tally('make', 1, 0)
    call ends(comm)
    call give_up(comm)
  end subroutine

  ! From the first member of a communicator to the last, if they are two.
  subroutine ends(comm)
    COMM :: comm
    integer :: own, members, bytes(20)
    call MPI_Comm_rank(comm, own, error)
    call MPI_Comm_size(comm, members, error)
    if (members < 2) return
    bytes = 0
    if (own == 0) then
      call MPI_Send(bytes, 20, MPI_INTEGER, members - 1, 0, comm, error)
      call tally('send', 1, 80)
    else if (own == members - 1) then
      call MPI_Recv(bytes, 20, MPI_INTEGER, MPI_ANY_SOURCE, 0, comm, MPI_STATUS_IGNORE, error)
      call tally('receive', 1, 80)
    end if
  end subroutine
end subroutine
