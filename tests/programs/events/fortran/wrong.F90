! The programs of wrong.c by one of the bindings: wrong KIND.
program wrong
  use tallies
  implicit none
  character(20) :: kind
  integer :: numbers(25) = 0
  call MPI_Init(error)
  call who_is_where()
  call get_command_argument(1, kind)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  select case (kind)
  case ('unmatched')
    if (rank == 0) call MPI_Send(numbers, 10, MPI_INTEGER, 1, 3, MPI_COMM_WORLD, error)
  case ('deadlock')
    print '(i0,a,i0)', rank, ' waits as ', getpid()
    flush (6)
    call MPI_Recv(numbers, 25, MPI_INTEGER, right, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  case ('abort')
    if (rank == 1) call MPI_Abort(MPI_COMM_WORLD, 3, error)
    call MPI_Recv(numbers, 25, MPI_INTEGER, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  end select
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call MPI_Finalize(error)
end program
