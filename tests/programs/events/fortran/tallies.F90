! MPI by one of the three bindings: -DMPIF_H, -DMPI_MODULE or -DMPI_F08; and what the program has done by it, counted by itself
! and printed as tally.h does.
module tallies
#if defined(MPI_F08)
  use mpi_f08
#elif defined(MPI_MODULE)
  use mpi
#endif
  use iso_c_binding, only: c_ptr
  implicit none
#if defined(MPIF_H)
  include 'mpif.h'
#endif
  integer, parameter :: kinds = 64
  character(20) :: whats(kinds) = ''
  integer(8) :: times_of(kinds) = 0, bytes_of(kinds) = 0
  integer :: rank, ranks, right, left, error
contains
  subroutine who_is_where()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
    right = mod(rank + 1, ranks)
    left = mod(rank + ranks - 1, ranks)
  end subroutine

  subroutine tally(what, times, bytes)
    character(*), intent(in) :: what
    integer, intent(in) :: times, bytes
    integer :: at
    do at = 1, kinds
      if (whats(at) == '') whats(at) = what
      if (whats(at) == what) exit
    end do
    times_of(at) = times_of(at) + times
    bytes_of(at) = bytes_of(at) + bytes
  end subroutine

  ! Something that all do together, so many times: bytes given and got in each are told apart.
  subroutine together(what, times, given, got)
    character(*), intent(in) :: what
    integer, intent(in) :: times, given, got
    call tally(what, times, times * given)
    call tally('got', times, times * got)
  end subroutine

  subroutine tell()
    integer :: at
    do at = 1, kinds
      if (whats(at) /= '') print '(i0,1x,a,1x,i0,1x,i0)', rank, trim(whats(at)), times_of(at), bytes_of(at)
    end do
  end subroutine
end module
