! Everything of this folder, one after the other.
program main
  use tallies
  implicit none
  integer :: provided
  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, error)
  call who_is_where()
  call messages()
  call requests()
  call collectives()
  call communicators()
  call windows()
  if (provided == MPI_THREAD_MULTIPLE) call threads()
  call tell()
  call MPI_Finalize(error)
end program
