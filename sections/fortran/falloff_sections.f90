! Marks sections of a parallel program for falloff: phases whose time and balance it reports and whose share of the run
! bounds the speed-up. Compile it with the program; nothing is linked. The functions are looked for in the running
! program, once, and do nothing where it is not profiled. With a C library older than glibc 2.34 link with -ldl.
!
!   use falloff_sections
!   call falloff_section_enter(MPI_COMM_WORLD, "HALO")              ! mpif.h and use mpi
!   call falloff_section_exit(MPI_COMM_WORLD, "HALO")
!   call falloff_section_enter(MPI_COMM_WORLD%MPI_VAL, "HALO")      ! use mpi_f08
!   call falloff_section_exit(MPI_COMM_WORLD%MPI_VAL, "HALO")
!   call falloff_section_enter("HALO")                              ! threads, and programs without MPI
!   call falloff_section_exit("HALO")
!
! All members of the communicator make the same calls in the same order; no message is sent and nobody waits. Sections are
! nested. Of a label 63 characters count, without blanks at the end.
module falloff_sections
  use, intrinsic :: iso_c_binding, only: c_char, c_f_procpointer, c_funptr, c_int, c_null_char, c_null_ptr, c_ptr, &
                                         c_associated
  implicit none
  private
  public :: falloff_section_enter, falloff_section_exit

  interface falloff_section_enter
    module procedure enter_alone, enter_together
  end interface
  interface falloff_section_exit
    module procedure exit_alone, exit_together
  end interface

  integer, parameter :: label_length = 64

  abstract interface
    function alone(label) bind(c) result(failed)
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: label(*)
      integer(c_int) :: failed
    end function alone
    function together(communicator, label) bind(c) result(failed)
      import :: c_char, c_int
      integer(c_int), value :: communicator
      character(kind=c_char), intent(in) :: label(*)
      integer(c_int) :: failed
    end function together
  end interface

  interface
    function dlsym(handle, name) bind(c, name="dlsym") result(found)
      import :: c_char, c_funptr, c_ptr
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*)
      type(c_funptr) :: found
    end function dlsym
  end interface

  logical, save :: looked_for = .false.
  procedure(alone), pointer, save :: p_enter => null(), p_exit => null()
  procedure(together), pointer, save :: p_enter_f => null(), p_exit_f => null()

contains

  ! Threads that come here at once all find the same.
  subroutine look_up()
    type(c_funptr) :: found
    found = dlsym(c_null_ptr, "falloff_section_enter" // c_null_char)
    if (c_associated(found)) call c_f_procpointer(found, p_enter)
    found = dlsym(c_null_ptr, "falloff_section_exit" // c_null_char)
    if (c_associated(found)) call c_f_procpointer(found, p_exit)
    found = dlsym(c_null_ptr, "falloff_section_enter_f" // c_null_char)
    if (c_associated(found)) call c_f_procpointer(found, p_enter_f)
    found = dlsym(c_null_ptr, "falloff_section_exit_f" // c_null_char)
    if (c_associated(found)) call c_f_procpointer(found, p_exit_f)
    looked_for = .true.
  end subroutine look_up

  ! The label as C has it.
  pure subroutine to_c(label, text)
    character(*), intent(in) :: label
    character(kind=c_char), intent(out) :: text(label_length)
    integer :: i, length
    length = min(len_trim(label), label_length - 1)
    do i = 1, length
      text(i) = label(i:i)
    end do
    text(length + 1) = c_null_char
  end subroutine to_c

  subroutine enter_alone(label)
    character(*), intent(in) :: label
    character(kind=c_char) :: text(label_length)
    integer(c_int) :: ignored
    if (.not. looked_for) call look_up()
    if (.not. associated(p_enter)) return
    call to_c(label, text)
    ignored = p_enter(text)
  end subroutine enter_alone

  subroutine exit_alone(label)
    character(*), intent(in) :: label
    character(kind=c_char) :: text(label_length)
    integer(c_int) :: ignored
    if (.not. looked_for) call look_up()
    if (.not. associated(p_exit)) return
    call to_c(label, text)
    ignored = p_exit(text)
  end subroutine exit_alone

  subroutine enter_together(communicator, label)
    integer, intent(in) :: communicator
    character(*), intent(in) :: label
    character(kind=c_char) :: text(label_length)
    integer(c_int) :: ignored
    if (.not. looked_for) call look_up()
    if (.not. associated(p_enter_f)) return
    call to_c(label, text)
    ignored = p_enter_f(int(communicator, c_int), text)
  end subroutine enter_together

  subroutine exit_together(communicator, label)
    integer, intent(in) :: communicator
    character(*), intent(in) :: label
    character(kind=c_char) :: text(label_length)
    integer(c_int) :: ignored
    if (.not. looked_for) call look_up()
    if (.not. associated(p_exit_f)) return
    call to_c(label, text)
    ignored = p_exit_f(int(communicator, c_int), text)
  end subroutine exit_together
end module falloff_sections
