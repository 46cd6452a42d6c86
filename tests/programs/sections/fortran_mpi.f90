! Sections by Fortran's binding mpi of MPI.
program fortran_mpi
  use mpi
  use falloff_sections
  implicit none
  integer :: failed, rank, total, step

  call MPI_Init(failed)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, failed)
  do step = 1, 5
    call falloff_section_enter(MPI_COMM_WORLD, "REDUCE   ")
    call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, failed)
    call falloff_section_exit(MPI_COMM_WORLD, "REDUCE")
  end do
  call falloff_section_enter("ALONE")
  call falloff_section_exit("ALONE")
  print "(a, i0, a, i0)", "rank ", rank, " has ", total
  call MPI_Finalize(failed)
end program fortran_mpi
