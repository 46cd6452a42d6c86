! One-sided transfers of every kind, and what synchronises them.
#include "handles.h"
#define EACH 25
subroutine windows()
  use tallies
  implicit none
  integer, save, asynchronous :: own(4 * EACH) = 0, other_own(4 * EACH) = 0, out(EACH) = 0, in(EACH), one(1) = 1, zero(1) = 0, &
    found(1)
  integer(MPI_ADDRESS_KIND), parameter :: start = 0, second = EACH, third = 2 * EACH, bytes = 16 * EACH
  integer, parameter :: part = 4 * EACH
  WINDOW :: window, other
  GROUP :: all, rights, lefts
  REQUEST :: request
  POINTER :: given
  logical :: done
  call MPI_Comm_group(MPI_COMM_WORLD, all, error)
  call MPI_Group_incl(all, 1, [right], rights, error)
  call MPI_Group_incl(all, 1, [left], lefts, error)
  call MPI_Win_create(own, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, window, error)
  call MPI_Win_create(other_own, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, other, error)
  call MPI_Win_fence(0, window, error)
  call MPI_Put(out, EACH, MPI_INTEGER, right, start, EACH, MPI_INTEGER, window, error)
  call MPI_Win_fence(0, window, error)
  call MPI_Get(in, EACH, MPI_INTEGER, left, start, EACH, MPI_INTEGER, window, error)
  call MPI_Put(out, EACH, MPI_INTEGER, MPI_PROC_NULL, start, EACH, MPI_INTEGER, window, error)
  call MPI_Win_fence(0, window, error)
  call MPI_Accumulate(out, EACH, MPI_INTEGER, right, second, EACH, MPI_INTEGER, MPI_SUM, window, error)
  call MPI_Win_fence(0, window, error)
  call tally('fence', 4, 0)
  call tally('put', 1, part)
  call tally('get', 1, part)
  call tally('accumulate', 1, part)
  call MPI_Win_post(lefts, 0, other, error)
  call MPI_Win_start(rights, 0, other, error)
  call MPI_Put(out, 3, MPI_INTEGER, right, start, 3, MPI_INTEGER, other, error)
  call MPI_Win_complete(other, error)
  done = .false.
  if (mod(rank, 2) == 1) then
    call MPI_Win_wait(other, error)
  else
    do while (.not. done)
      call MPI_Win_test(other, done, error)
    end do
  end if
  call tally('put', 1, 12)
  call tally('post', 1, 0)
  call tally('start', 1, 0)
  call tally('complete', 1, 0)
  call tally('wait', 1, 0)
  call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, window, error)
  call MPI_Rput(out, EACH, MPI_INTEGER, right, start, EACH, MPI_INTEGER, window, request, error)
  call MPI_Wait(request, MPI_STATUS_IGNORE, error)
  call MPI_Win_flush(right, window, error)
  call MPI_Win_flush_local(right, window, error)
  call MPI_Win_unlock(right, window, error)
  call MPI_Win_lock(MPI_LOCK_SHARED, left, 0, window, error)
  call MPI_Rget(in, EACH, MPI_INTEGER, left, start, EACH, MPI_INTEGER, window, request, error)
  call MPI_Wait(request, MPI_STATUS_IGNORE, error)
  call MPI_Win_unlock(left, window, error)
  call tally('put', 1, part)
  call tally('get', 1, part)
  call tally('lock exclusive', 1, 0)
  call tally('lock shared', 1, 0)
  call tally('unlock', 2, 0)
  call MPI_Win_lock_all(0, window, error)
  call MPI_Get_accumulate(out, EACH, MPI_INTEGER, in, EACH, MPI_INTEGER, right, second, EACH, MPI_INTEGER, MPI_SUM, window, error)
  call MPI_Win_flush(right, window, error)
  call MPI_Raccumulate(out, EACH, MPI_INTEGER, right, second, EACH, MPI_INTEGER, MPI_SUM, window, request, error)
  call MPI_Wait(request, MPI_STATUS_IGNORE, error)
  call MPI_Rget_accumulate(out, EACH, MPI_INTEGER, in, EACH, MPI_INTEGER, right, second, EACH, MPI_INTEGER, MPI_SUM, window, &
                           request, error)
  call MPI_Wait(request, MPI_STATUS_IGNORE, error)
  call MPI_Fetch_and_op(one, found, MPI_INTEGER, right, third, MPI_SUM, window, error)
  call MPI_Win_flush_all(window, error)
  call MPI_Compare_and_swap(one, zero, found, MPI_INTEGER, right, third, window, error)
  call MPI_Win_flush_local_all(window, error)
  call MPI_Win_unlock_all(window, error)
  call tally('accumulate', 5, 3 * part + 8)
  call tally('flush', 5, 0)
  call tally('lock all', 1, 0)
  call tally('unlock all', 1, 0)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call together('barrier', 1, 0, 0)
  call MPI_Win_free(other, error)
  call MPI_Win_free(window, error)
  call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, given, window, error)
  call MPI_Win_free(window, error)
  call MPI_Win_allocate_shared(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, given, window, error)
  call MPI_Win_free(window, error)
  call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, window, error)
  call MPI_Win_free(window, error)
  call tally('make', 10, 0)
  call MPI_Group_free(all, error)
  call MPI_Group_free(rights, error)
  call MPI_Group_free(lefts, error)
end subroutine
