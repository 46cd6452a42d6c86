! A coarray program: every image works in image_work and adds its number to that of the first image.
module images_work
  implicit none
contains
  subroutine image_work(megasteps)
    integer, intent(in) :: megasteps
    integer(8) :: i, x
    x = 1
    do i = 1, megasteps * 1000000_8
      x = ieor(x * 25_8, i)
    end do
    if (x == 0) print *, 'unlikely'
  end subroutine image_work
end module images_work

program images
  use images_work
  implicit none
  integer :: total[*]
  total = this_image()
  call image_work(400 / num_images())
  call co_sum(total, result_image=1)
  sync all
  if (this_image() == 1) print '(a,i0,a,i0)', 'images ', num_images(), ' sum ', total
end program images
