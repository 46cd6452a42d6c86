! Messages with requests of every kind, and all ways to wait for them. The room for what is buffered is that of messages.F90.
#include "handles.h"
#define MANY 8
subroutine requests()
  use tallies
  implicit none
  integer, save :: out(100, MANY) = 0, in(100, MANY)
  REQUEST, save :: all(2 * MANY), kept(4)
  STATUSES(stats, 2 * MANY)
  STATUS :: stat
  integer :: indices(2 * MANY), index, count, at, left_over, round
  logical :: done
#if defined(RECENT)
  integer(MPI_COUNT_KIND) :: many
#endif
  call exchange()
  call MPI_Waitall(2 * MANY, all, MPI_STATUSES_IGNORE, error)
  call exchange()
  call MPI_Waitall(2 * MANY, all, stats, error)
  call exchange()
  do at = 1, MANY
    call MPI_Wait(all(at), MPI_STATUS_IGNORE, error)
    call MPI_Wait(all(at + MANY), stat, error)
  end do
  call exchange()
  do at = 1, MANY
    call MPI_Waitany(2 * MANY, all, index, stat, error)
    call MPI_Waitany(2 * MANY, all, index, MPI_STATUS_IGNORE, error)
  end do
  call exchange()
  left_over = 2 * MANY
  do while (left_over > 0)
    call MPI_Waitsome(2 * MANY, all, count, indices, MPI_STATUSES_IGNORE, error)
    left_over = left_over - count
  end do
  call exchange()
  do at = 1, 2 * MANY
    done = .false.
    do while (.not. done)
      call MPI_Test(all(at), done, MPI_STATUS_IGNORE, error)
    end do
  end do
  call exchange()
  done = .false.
  do while (.not. done)
    call MPI_Testall(2 * MANY, all, done, MPI_STATUSES_IGNORE, error)
  end do
  call exchange()
  left_over = 2 * MANY
  do while (left_over > 0)
    call MPI_Testany(2 * MANY, all, index, done, stat, error)
    if (done) left_over = left_over - 1
  end do
  call exchange()
  left_over = 2 * MANY
  do while (left_over > 0)
    call MPI_Testsome(2 * MANY, all, count, indices, stats, error)
    left_over = left_over - count
  end do
  ! Nothing to wait for.
  call MPI_Waitall(2 * MANY, all, stats, error)
  ! Persistent ones, started twice; the ready one by itself, when its receive has begun.
  call MPI_Recv_init(in(1, 1), 100, MPI_INTEGER, left, 50, MPI_COMM_WORLD, kept(1), error)
  call MPI_Recv_init(in(1, 2), 100, MPI_INTEGER, MPI_ANY_SOURCE, 51, MPI_COMM_WORLD, kept(2), error)
  call MPI_Send_init(out(1, 1), 70, MPI_INTEGER, right, 50, MPI_COMM_WORLD, kept(3), error)
  call MPI_Ssend_init(out(1, 2), 80, MPI_INTEGER, right, 51, MPI_COMM_WORLD, kept(4), error)
  call MPI_Startall(4, kept, error)
  call MPI_Waitall(4, kept, MPI_STATUSES_IGNORE, error)
  do at = 1, 4
    call MPI_Start(kept(at), error)
  end do
  call MPI_Waitall(4, kept, stats, error)
  do at = 1, 4
    call MPI_Request_free(kept(at), error)
  end do
  call tally('send', 2, 2 * 280)
  call tally('synchronous', 2, 2 * 320)
  call tally('receive', 4, 2 * 600)
  call MPI_Recv_init(in(1, 1), 100, MPI_INTEGER, left, 52, MPI_COMM_WORLD, kept(1), error)
  call MPI_Bsend_init(out(1, 1), 60, MPI_INTEGER, right, 52, MPI_COMM_WORLD, kept(2), error)
  call MPI_Rsend_init(out(1, 2), 90, MPI_INTEGER, right, 53, MPI_COMM_WORLD, kept(3), error)
  call MPI_Recv_init(in(1, 2), 100, MPI_INTEGER, left, 53, MPI_COMM_WORLD, kept(4), error)
  do round = 1, 2
    call MPI_Start(kept(4), error)
    call MPI_Irecv(in(1, 3), 100, MPI_INTEGER, left, 54, MPI_COMM_WORLD, all(1), error)
    call MPI_Barrier(MPI_COMM_WORLD, error)
    call MPI_Startall(3, kept, error)
    call MPI_Irsend(out(1, 3), 20, MPI_INTEGER, right, 54, MPI_COMM_WORLD, all(2), error)
    call MPI_Waitall(4, kept, MPI_STATUSES_IGNORE, error)
    call MPI_Waitall(2, all, MPI_STATUSES_IGNORE, error)
  end do
  do at = 1, 4
    call MPI_Request_free(kept(at), error)
  end do
  call together('barrier', 2, 0, 0)
  call tally('buffered', 2, 2 * 240)
  call tally('ready', 4, 2 * 440)
  call tally('receive', 6, 2 * 680)
  ! A receive that nobody sends to is called off; a send is let go.
  call MPI_Irecv(in, 10, MPI_INTEGER, left, 60, MPI_COMM_WORLD, all(1), error)
  call MPI_Cancel(all(1), error)
  call MPI_Wait(all(1), MPI_STATUS_IGNORE, error)
  call tally('void', 1, 0)
  call MPI_Isend(out, 6, MPI_INTEGER, right, 61, MPI_COMM_WORLD, all(1), error)
  call MPI_Request_free(all(1), error)
  call MPI_Recv(in, 100, MPI_INTEGER, left, 61, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  call tally('send', 1, 24)
  call tally('receive', 1, 24)
#if defined(RECENT)
  call MPI_Isendrecv(out, 30, MPI_INTEGER, right, 70, in, 100, MPI_INTEGER, left, 70, MPI_COMM_WORLD, all(1), error)
  call MPI_Wait(all(1), MPI_STATUS_IGNORE, error)
  call MPI_Isendrecv_replace(out, 30, MPI_INTEGER, right, 71, left, 71, MPI_COMM_WORLD, all(1), error)
  call MPI_Wait(all(1), stat, error)
  call tally('send', 2, 240)
  ! MPICH, the one that has these, says nothing of what came.
  call tally('unsaid', 2, 0)
  many = 25
  call MPI_Psend_init(out, 4, many, MPI_INTEGER, right, 80, MPI_COMM_WORLD, MPI_INFO_NULL, all(1), error)
  call MPI_Precv_init(in, 4, many, MPI_INTEGER, left, 80, MPI_COMM_WORLD, MPI_INFO_NULL, all(2), error)
  call MPI_Startall(2, all, error)
  call MPI_Pready_range(2, 3, all(1), error)
  call MPI_Pready(0, all(1), error)
  call MPI_Pready_list(1, [1], all(1), error)
  call MPI_Waitall(2, all, MPI_STATUSES_IGNORE, error)
  call MPI_Request_free(all(1), error)
  call MPI_Request_free(all(2), error)
  call tally('send', 1, 400)
  call tally('receive', 1, 400)
#if defined(MPI_F08)
  ! Counts of 64 bits.
  call MPI_Irecv(in, many, MPI_INTEGER, left, 90, MPI_COMM_WORLD, all(1), error)
  call MPI_Send(out, many, MPI_INTEGER, right, 90, MPI_COMM_WORLD, error)
  call MPI_Wait(all(1), MPI_STATUS_IGNORE, error)
  call MPI_Bcast(out, many, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
  call tally('send', 1, 100)
  call tally('receive', 1, 100)
  call together('broadcast', 1, merge(100, 0, rank == 0), merge(0, 100, rank == 0))
#endif
#endif
contains
  ! Begins to receive from the left and to send to the right, so many of each; all lengths are told by the number.
  subroutine exchange()
    integer :: one
    do one = 1, MANY
      call MPI_Irecv(in(1, one), 100, MPI_INTEGER, merge(left, MPI_ANY_SOURCE, mod(one, 3) > 0), one, MPI_COMM_WORLD, &
                     all(2 * one - 1), error)
      call tally('receive', 1, 40 * one)
    end do
    do one = 1, MANY
      select case (mod(one, 3))
      case (0)
        call MPI_Isend(out(1, one), 10 * one, MPI_INTEGER, right, one, MPI_COMM_WORLD, all(2 * one), error)
        call tally('send', 1, 40 * one)
      case (1)
        call MPI_Issend(out(1, one), 10 * one, MPI_INTEGER, right, one, MPI_COMM_WORLD, all(2 * one), error)
        call tally('synchronous', 1, 40 * one)
      case (2)
        call MPI_Ibsend(out(1, one), 10 * one, MPI_INTEGER, right, one, MPI_COMM_WORLD, all(2 * one), error)
        call tally('buffered', 1, 40 * one)
      end select
    end do
  end subroutine
end subroutine
