! Every rank works in rank_work (rank 1 twice as long as the others) and says its number and the sum of all.
module ring_work
  implicit none
contains
  subroutine rank_work(megasteps)
    integer, intent(in) :: megasteps
    integer(8) :: i, x
    x = 1
    do i = 1, megasteps * 1000000_8
      x = ieor(x * 25_8, i)
    end do
    if (x == 0) print *, 'unlikely'
  end subroutine rank_work
end module ring_work

program ring
  use mpi
  use ring_work
  implicit none
  integer :: rank, ranks, total, error
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call rank_work(merge(800, 400, rank == 1))
  call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  print '(a,i0,a,i0,a,i0)', 'rank ', rank, ' of ', ranks, ' sum ', total
  call MPI_Finalize(error)
end program ring
