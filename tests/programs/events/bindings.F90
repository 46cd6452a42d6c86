! Messages by one of the three Fortran bindings: -DMPIF_H, -DMPI_MODULE or -DMPI_F08. Prints what it has done as tally.h does.
program bindings
#if defined(MPI_F08)
  use mpi_f08
#elif defined(MPI_MODULE)
  use mpi
#endif
  implicit none
#if defined(MPIF_H)
  include 'mpif.h'
#endif
#if defined(MPI_F08)
  type(MPI_Request) :: requests(2)
  type(MPI_Status) :: status, statuses(2)
  type(MPI_Comm) :: half
#else
  integer :: requests(2), status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 2), half
#endif
  integer :: rank, ranks, right, left, error, round, index
  double precision :: out(100), in(100), total(2)
  logical :: done
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  right = mod(rank + 1, ranks)
  left = mod(rank + ranks - 1, ranks)
  out = rank
  do round = 1, 20
    call MPI_Irecv(in, 100, MPI_DOUBLE_PRECISION, left, round, MPI_COMM_WORLD, requests(1), error)
    call MPI_Isend(out, round, MPI_DOUBLE_PRECISION, right, round, MPI_COMM_WORLD, requests(2), error)
    select case (mod(round, 4))
    case (0)
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
    case (1)
      call MPI_Waitall(2, requests, statuses, error)
    case (2)
      call MPI_Wait(requests(1), status, error)
      call MPI_Wait(requests(2), MPI_STATUS_IGNORE, error)
    case (3)
      call MPI_Waitany(2, requests, index, MPI_STATUS_IGNORE, error)
      done = .false.
      do while (.not. done)
        call MPI_Testall(2, requests, done, MPI_STATUSES_IGNORE, error)
      end do
    end select
  end do
  call MPI_Sendrecv(out, 3, MPI_DOUBLE_PRECISION, right, 0, in, 100, MPI_DOUBLE_PRECISION, left, MPI_ANY_TAG, &
                    MPI_COMM_WORLD, status, error)
  call MPI_Allreduce(out, total, 2, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half, error)
  call MPI_Barrier(half, error)
  call MPI_Comm_free(half, error)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  print '(i0,a)', rank, ' send 21 1704'
  print '(i0,a)', rank, ' receive 21 1704'
  print '(i0,a)', rank, ' all-reduce 1 16'
  print '(i0,a)', rank, ' make 2 0'
  print '(i0,a)', rank, ' barrier 2 0'
  print '(i0,a)', rank, ' got 3 16'
  call MPI_Finalize(error)
end program
