! Heat in a rod, in Fortran: the rod is cut into blocks, a task moves one block one step in time, and reads the blocks
! beside it. There is no barrier between steps: a block may be steps ahead of one far away. Two copies of the rod take
! turns, so each block has two handles.
module heat
  use weft
  implicit none
  integer, parameter :: blocks = 32, cells = 512, steps = 40
  real(c_double), parameter :: rate = 0.25d0
  real(c_double), parameter :: cell_ns = 20  ! what one cell costs on a modelled core

contains

  ! Accesses: the block, its left and its right neighbour in the old copy (itself at an end of the rod), the new block.
  recursive subroutine move(argument, data) bind(c)
    type(c_ptr), value :: argument, data
    type(c_ptr), pointer :: d(:)
    real(c_double), pointer :: old(:), left(:), right(:), new(:)
    integer :: i
    if (c_associated(argument)) error stop "this body takes no argument"
    call c_f_pointer(data, d, [4])
    call c_f_pointer(d(1), old, [cells])
    call c_f_pointer(d(2), left, [cells])
    call c_f_pointer(d(3), right, [cells])
    call c_f_pointer(d(4), new, [cells])
    new(1) = next(left(cells), old(1), old(2))
    do i = 2, cells - 1
      new(i) = next(old(i - 1), old(i), old(i + 1))
    end do
    new(cells) = next(old(cells - 1), old(cells), right(1))
  end subroutine

  pure real(c_double) function next(left, here, right)
    real(c_double), intent(in) :: left, here, right
    next = here + rate*(left - 2*here + right)
  end function

  ! At an end, the neighbour is the block itself: its far cell stands for the wall.
  pure integer function neighbour(k, by)
    integer, intent(in) :: k, by
    neighbour = min(max(k + by, 1), blocks)
  end function

  subroutine start(rod)
    real(c_double), intent(out) :: rod(cells, blocks, 0:1)
    rod = 0
    rod(:, blocks/2, 0) = 100
  end subroutine

  ! On the modelled machine with so many workers: the rod after all steps and the time it took.
  subroutine run(workers, rod, time_us)
    integer, intent(in) :: workers
    real(c_double), intent(out), target :: rod(cells, blocks, 0:1)
    real(c_double), intent(out) :: time_us
    type(c_ptr) :: rt, handles(blocks, 0:1)
    type(weft_options) :: options
    type(weft_task) :: task
    type(weft_access), target :: accesses(4)
    integer :: step, k, old, new

    call start(rod)
    options%size = c_sizeof(options)
    options%workers = workers
    options%machine = weft_intern("virtual"//c_null_char)
    rt = weft_runtime_create(options)
    if (.not. c_associated(rt)) call weft_check(WEFT_MISUSE)
    do k = 1, blocks
      handles(k, 0) = weft_handle_create(c_loc(rod(1, k, 0)))
      handles(k, 1) = weft_handle_create(c_loc(rod(1, k, 1)))
    end do

    task%size = c_sizeof(task)
    task%name = weft_intern("move"//c_null_char)
    task%body = c_funloc(move)
    task%accesses = c_loc(accesses)
    task%access_count = 4
    task%cost_ns = cells*cell_ns
    do step = 1, steps
      new = mod(step, 2)
      old = 1 - new
      do k = 1, blocks
        accesses(1) = weft_access(handles(k, old), WEFT_READ, 0)
        accesses(2) = weft_access(handles(neighbour(k, -1), old), WEFT_READ, 0)
        accesses(3) = weft_access(handles(neighbour(k, +1), old), WEFT_READ, 0)
        accesses(4) = weft_access(handles(k, new), WEFT_WRITE, 0)
        call weft_check(weft_submit(rt, task))
      end do
    end do
    call weft_check(weft_wait(rt))
    time_us = weft_now_ns(rt)/1000
    do k = 1, blocks
      call weft_check(weft_handle_destroy(handles(k, 0)))
      call weft_check(weft_handle_destroy(handles(k, 1)))
    end do
    call weft_check(weft_runtime_destroy(rt))
  end subroutine

  ! The same by two loops.
  subroutine run_plainly(rod)
    real(c_double), intent(out), target :: rod(cells, blocks, 0:1)
    real(c_double), pointer :: old(:, :)
    integer :: step, k, i
    real(c_double) :: left, right
    call start(rod)
    do step = 1, steps
      old => rod(:, :, 1 - mod(step, 2))
      do k = 1, blocks
        do i = 1, cells
          left = old(merge(i - 1, cells, i > 1), merge(k, neighbour(k, -1), i > 1))
          right = old(merge(i + 1, 1, i < cells), merge(k, neighbour(k, +1), i < cells))
          rod(i, k, mod(step, 2)) = next(left, old(i, k), right)
        end do
      end do
    end do
  end subroutine
end module

program main
  use heat
  implicit none
  integer, parameter :: workers(4) = [1, 2, 4, 8]
  real(c_double) :: rod(cells, blocks, 0:1), plain(cells, blocks, 0:1), alone, time
  character(len=3) :: same
  integer :: i
  call run_plainly(plain)
  call run(1, rod, alone)
  print '(a)', "workers  time/us  speed-up  as by two loops"
  do i = 1, size(workers)
    call run(workers(i), rod, time)
    same = merge("yes", "no ", maxval(abs(rod(:, :, mod(steps, 2)) - plain(:, :, mod(steps, 2)))) < 1d-12)
    print '(i7, f9.1, f10.2, 2x, a)', workers(i), time, alone/time, trim(same)
  end do
end program
