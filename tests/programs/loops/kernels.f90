! Loops of Fortran: nests, whole arrays, early exits. The marks are explained in kernels.c.
module kernels
  implicit none
  integer, parameter :: side = 160, length = 20000
contains

  ! loops triple: j(l(i))
  subroutine triple(a, b, c)
    real(8), intent(in) :: a(:, :), b(:, :)
    real(8), intent(inout) :: c(:, :)
    integer :: i, j, l
    do j = 1, size(c, 2)              ! @j
      do l = 1, size(b, 1)            ! @l
        do i = 1, size(c, 1)          ! @i
          c(i, j) = c(i, j) + a(i, l) * b(l, j)
        end do
      end do
    end do
  end subroutine

  ! loops fused: both
  real(8) function fused(x, y, n)
    integer, intent(in) :: n
    real(8), intent(in) :: x(n)
    real(8), intent(out) :: y(n)
    integer :: i
    fused = 0
    do i = 1, n                       ! @both
      y(i) = x(i) * 0.5d0 + 1
      fused = fused * 0.25d0 + y(i)
    end do
  end function

  ! loops whole: array
  subroutine whole(x, y, z)
    real(8), intent(in) :: x(length), y(length)
    real(8), intent(out) :: z(length)
    z = x * 2 + y                     ! @array
  end subroutine

  ! loops search: rounds(find)
  integer function search(keys, key)
    integer, intent(in) :: keys(length), key
    integer :: i, round
    search = 0
    do round = 1, 3                   ! @rounds
      do i = 1, length                ! @find
        if (keys(i) == key) exit
        if (mod(keys(i), 7) == 3) cycle
        search = ieor(search * 3, keys(i)) + round
      end do
    end do
  end function

  ! loops collatz: steps
  integer function collatz(n)
    integer, intent(in) :: n
    integer :: m
    m = n
    collatz = 0
    do while (m /= 1)                 ! @steps
      if (mod(m, 2) == 0) then
        m = m / 2
      else
        m = 3 * m + 1
      end if
      collatz = collatz + 1
    end do
  end function

  real(8) function now()
    call cpu_time(now)
  end function
end module

program main
  use kernels
  implicit none
  real(8) :: a(side, side), b(side, side), c(side, side), x(length), y(length), z(length)
  real(8) :: limit, start, sink
  integer :: keys(length), i
  character(32) :: argument
  limit = 1
  if (command_argument_count() > 0) then
    call get_command_argument(1, argument)
    read (argument, *) limit
  end if
  call random_number(a)
  call random_number(b)
  call random_number(x)
  c = 0
  y = x
  z = 0
  keys = [(i * 7, i = 1, length)]
  sink = 0
  start = now()
  do while (now() - start < 0.3d0 * limit)
    do i = 1, 5
      call triple(a, b, c)
    end do
  end do
  write (*, '(a, f12.6)', advance='no') '{"j":', now() - start
  start = now()
  do while (now() - start < 0.3d0 * limit)
    do i = 1, 50
      sink = sink + fused(x, y, length)
    end do
  end do
  write (*, '(a, f12.6)', advance='no') ', "both":', now() - start
  start = now()
  do while (now() - start < 0.2d0 * limit)
    do i = 1, 50
      sink = sink + search(keys, -1)
    end do
  end do
  write (*, '(a, f12.6)', advance='no') ', "rounds":', now() - start
  start = now()
  do while (now() - start < 0.2d0 * limit)
    do i = 1, 1000
      sink = sink + collatz(837799 + i)
    end do
  end do
  write (*, '(a, f12.6, a)') ', "steps":', now() - start, '}'
  call whole(x, y, z)
  if (sink + z(1) == 0.25d0) print *, c(1, 1)
end program
