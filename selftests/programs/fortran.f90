! SPDX-License-Identifier: GPL-2.0
! Recursion, array temporaries and formatted output.
program fortran
  implicit none
  integer :: i, n
  character(len=16) :: text
  real(8) :: total

  n = 1
  if (command_argument_count() > 0) then
    call get_command_argument(1, text)
    read (text, *) n
  end if
  total = 0
  do i = 1, 10 * n
    total = total + descend(8)
    write (text, '(f12.3)') mod(total, 1000d0)
  end do
  if (total < 0) stop 1

contains

  recursive function descend(depth) result(r)
    integer, intent(in) :: depth
    real(8) :: r, a(24, 24)

    call random_number(a)
    r = sum(matmul(a, transpose(a)))
    if (depth > 0) r = r + descend(depth - 1)
  end function descend
end program fortran
