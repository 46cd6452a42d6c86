! Threads that all send and receive at once, each to the same thread of the next rank, and do things together on a communicator of
! its own.
#include "handles.h"
#define THREADS 3
#define ROUNDS 2
subroutine threads()
  use tallies
  implicit none
  COMM :: own(THREADS)
  integer :: at
  do at = 1, THREADS
    call MPI_Comm_dup(MPI_COMM_WORLD, own(at), error)
  end do
  !$omp parallel do num_threads(THREADS) schedule(static, 1)
  do at = 1, THREADS
    call work(at, own(at))
  end do
  do at = 1, THREADS
    call MPI_Comm_free(own(at), error)
    call tally('send', ROUNDS, 40 * at * ROUNDS)
    call tally('receive', ROUNDS, 40 * at * ROUNDS)
    call together('all-reduce', ROUNDS, 4, 4)
  end do
  call tally('make', 2 * THREADS, 0)
contains
  subroutine work(tag, comm)
    integer, intent(in) :: tag
    COMM, intent(in) :: comm
    integer :: out(100), in(100), sum(1), round, failed
    REQUEST :: request(2)
    out = 0
    do round = 1, ROUNDS
      call MPI_Irecv(in, 100, MPI_INTEGER, left, tag, MPI_COMM_WORLD, request(1), failed)
      call MPI_Isend(out, 10 * tag, MPI_INTEGER, right, tag, MPI_COMM_WORLD, request(2), failed)
      call MPI_Waitall(2, request, MPI_STATUSES_IGNORE, failed)
      call MPI_Allreduce([1], sum, 1, MPI_INTEGER, MPI_SUM, comm, failed)
    end do
  end subroutine
end subroutine
