! Blocking messages of every kind, round a ring. All are of integers of four bytes.
#include "handles.h"
subroutine messages()
  use tallies
  implicit none
  integer, parameter :: longest = 5000
  integer, save :: out(longest) = 0, in(longest), room(4 * longest)
  integer :: turn, length, count
  logical :: found
  STATUS :: stat
  MESSAGE :: message
  REQUEST :: request
  call MPI_Buffer_attach(room, 16 * longest, error)
  length = 0
  do while (length <= longest)
    ! Even ranks send first; what is too long to go at once must not wait for itself.
    do turn = 0, 1
      if (mod(rank, 2) == turn) then
        call MPI_Send(out, length, MPI_INTEGER, right, 5, MPI_COMM_WORLD, error)
        call MPI_Ssend(out, length, MPI_INTEGER, right, 6, MPI_COMM_WORLD, error)
      else
        call MPI_Recv(in, longest, MPI_INTEGER, left, 5, MPI_COMM_WORLD, stat, error)
        call MPI_Recv(in, longest, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
      end if
    end do
    call MPI_Bsend(out, length, MPI_INTEGER, right, 7, MPI_COMM_WORLD, error)
    call MPI_Recv(in, longest, MPI_INTEGER, left, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    call MPI_Sendrecv(out, length, MPI_INTEGER, right, 8, in, longest, MPI_INTEGER, left, MPI_ANY_TAG, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE, error)
    call MPI_Sendrecv_replace(out, length, MPI_INTEGER, right, 9, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, stat, error)
    call tally('send', 3, 12 * length)
    call tally('synchronous', 1, 4 * length)
    call tally('buffered', 1, 4 * length)
    call tally('receive', 5, 20 * length)
    length = 9 * length + 7
  end do
  ! A ready send, to somebody who is known to be waiting.
  do turn = 0, 1
    if (mod(rank, 2) /= turn) then
      call MPI_Irecv(in, 100, MPI_INTEGER, left, 10, MPI_COMM_WORLD, request, error)
      call MPI_Send(out, 0, MPI_INTEGER, left, 11, MPI_COMM_WORLD, error)
      call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    else
      call MPI_Recv(in, 0, MPI_INTEGER, right, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
      call MPI_Rsend(out, 100, MPI_INTEGER, right, 10, MPI_COMM_WORLD, error)
    end if
  end do
  call tally('send', 1, 0)
  call tally('ready', 1, 400)
  call tally('receive', 2, 400)
  ! Nobody at the other end.
  call MPI_Send(out, 9, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, error)
  call MPI_Recv(in, 9, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, stat, error)
  call MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, message, stat, error)
  call MPI_Mrecv(in, 9, MPI_INTEGER, message, stat, error)
  ! Probes find what a send that goes at once has sent.
  call MPI_Bsend(out, 50, MPI_INTEGER, right, 20, MPI_COMM_WORLD, error)
  call MPI_Probe(left, 20, MPI_COMM_WORLD, stat, error)
  found = .false.
  do while (.not. found)
    call MPI_Iprobe(MPI_ANY_SOURCE, 20, MPI_COMM_WORLD, found, MPI_STATUS_IGNORE, error)
  end do
  call MPI_Get_count(stat, MPI_INTEGER, count, error)
  call MPI_Recv(in, count, MPI_INTEGER, SOURCE_OF(stat), TAG_OF(stat), MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  call MPI_Bsend(out, 51, MPI_INTEGER, right, 21, MPI_COMM_WORLD, error)
  call MPI_Mprobe(MPI_ANY_SOURCE, 21, MPI_COMM_WORLD, message, MPI_STATUS_IGNORE, error)
  call MPI_Mrecv(in, longest, MPI_INTEGER, message, MPI_STATUS_IGNORE, error)
  call MPI_Bsend(out, 52, MPI_INTEGER, right, 22, MPI_COMM_WORLD, error)
  found = .false.
  do while (.not. found)
    call MPI_Improbe(left, MPI_ANY_TAG, MPI_COMM_WORLD, found, message, stat, error)
  end do
  call MPI_Imrecv(in, longest, MPI_INTEGER, message, request, error)
  call MPI_Wait(request, MPI_STATUS_IGNORE, error)
  call tally('buffered', 3, 4 * 153)
  call tally('receive', 3, 4 * 153)
end subroutine
