! Weft for Fortran: the part of weft.h that most programs need, by iso_c_binding. weft.h says what each thing means; copy
! this file into your program, and add what else you need from there in the same way.
!
! A task body is a subroutine with bind(c) and the interface weft_body. Mark it `recursive`: without that, a compiler may
! keep its local arrays in static memory, where tasks that run at the same time overwrite each other.
module weft
  use, intrinsic :: iso_c_binding
  implicit none

  integer(c_int), parameter :: WEFT_OK = 0, WEFT_MISUSE = 1, WEFT_NO_MEMORY = 2, WEFT_TASK_FAILED = 3
  integer(c_int32_t), parameter :: WEFT_READ = 3, WEFT_WRITE = 4, WEFT_ADD = 6, WEFT_CONCURRENT = 2, &
                                   WEFT_REDUCE = 18, WEFT_USE = 32
  integer(c_int32_t), parameter :: WEFT_PINNED = 1, WEFT_SUBTASKS = 2

  type, bind(c) :: weft_options
    integer(c_size_t)  :: size = 0  ! c_sizeof of the variable
    integer(c_int64_t) :: seed = 0, window = 0, stack_kib = 0
    type(c_ptr)        :: machine = c_null_ptr, policy = c_null_ptr, schedule = c_null_ptr
    integer(c_int32_t) :: workers = 0, paused = 0, no_pin = 0, reserved = 0
    type(c_ptr)        :: trace = c_null_ptr, counters = c_null_ptr
    integer(c_int64_t) :: trace_mib = 0
    type(c_ptr)        :: creation = c_null_ptr
    integer(c_int32_t) :: creator = 0
    integer(c_int32_t) :: core = 0
    type(c_ptr) :: mode = c_null_ptr
    type(c_ptr) :: body = c_null_ptr
    real(c_double) :: body_scale = 0
  end type

  type, bind(c) :: weft_access
    type(c_ptr)        :: handle = c_null_ptr
    integer(c_int32_t) :: kind = 0, units = 0
  end type

  type, bind(c) :: weft_task
    integer(c_size_t)  :: size = 0
    type(c_funptr)     :: body = c_null_funptr
    type(c_ptr)        :: argument = c_null_ptr
    integer(c_size_t)  :: argument_bytes = 0
    type(c_ptr)        :: accesses = c_null_ptr
    integer(c_size_t)  :: access_count = 0
    type(c_ptr)        :: name = c_null_ptr
    real(c_double)     :: cost_ns = 0
    integer(c_int32_t) :: priority = 0, flags = 0, worker = 0, reserved = 0
  end type

  ! The operation of a reduction; merge, and if given the others, are subroutines with bind(c).
  type, bind(c) :: weft_reduction
    integer(c_size_t) :: size = 0, buffer_bytes = 0
    type(c_ptr)       :: context = c_null_ptr
    type(c_funptr)    :: create = c_null_funptr, merge = c_null_funptr, apply = c_null_funptr, destroy = c_null_funptr
  end type

  abstract interface
    recursive subroutine weft_body(argument, data) bind(c)
      import :: c_ptr
      type(c_ptr), value :: argument, data  ! data: call c_f_pointer(data, d, [number of accesses]), d of type(c_ptr)
    end subroutine
  end interface

  interface
    function weft_last_error_c() bind(c, name="weft_last_error") result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function
    integer(c_int) function weft_fail(message) bind(c)
      import :: c_int, c_char
      character(kind=c_char), intent(in) :: message(*)  ! ends with c_null_char
    end function

    type(c_ptr) function weft_runtime_create(options) bind(c)
      import :: c_ptr, weft_options
      type(weft_options), intent(in) :: options
    end function
    integer(c_int) function weft_runtime_destroy(rt) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: rt
    end function
    integer(c_int32_t) function weft_runtime_workers(rt) bind(c)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: rt
    end function
    real(c_double) function weft_now_ns(rt) bind(c)
      import :: c_double, c_ptr
      type(c_ptr), value :: rt
    end function

    type(c_ptr) function weft_handle_create(data) bind(c)
      import :: c_ptr
      type(c_ptr), value :: data
    end function
    type(c_ptr) function weft_reduction_create(data, reduction) bind(c)
      import :: c_ptr, weft_reduction
      type(c_ptr), value :: data
      type(weft_reduction), intent(in) :: reduction
    end function
    type(c_ptr) function weft_resource_create(units) bind(c)
      import :: c_ptr, c_int32_t
      integer(c_int32_t), value :: units
    end function
    integer(c_int) function weft_handle_destroy(handle) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: handle
    end function
    integer(c_int) function weft_handle_set_name(handle, name) bind(c)
      import :: c_int, c_ptr, c_char
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*)
    end function

    integer(c_int) function weft_submit(rt, task) bind(c)
      import :: c_int, c_ptr, weft_task
      type(c_ptr), value :: rt
      type(weft_task), intent(in) :: task
    end function
    integer(c_int) function weft_wait(rt) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: rt
    end function
    integer(c_int) function weft_wait_handle(rt, handle) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: rt, handle
    end function

    integer(c_int) function weft_worker_id() bind(c)
      import :: c_int
    end function
    subroutine weft_charge(nanoseconds) bind(c)
      import :: c_double
      real(c_double), value :: nanoseconds
    end subroutine
    type(c_ptr) function weft_intern(text) bind(c)  ! for weft_task%name and the texts of weft_options
      import :: c_ptr, c_char
      character(kind=c_char), intent(in) :: text(*)
    end function
  end interface

contains

  function weft_last_error() result(text)
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: n, i
    call c_f_pointer(weft_last_error_c(), letters, [2048])
    n = 0
    do while (letters(n + 1) /= c_null_char)
      n = n + 1
    end do
    allocate (character(len=n) :: text)
    do i = 1, n
      text(i:i) = letters(i)
    end do
  end function

  subroutine weft_check(status)
    integer(c_int), intent(in) :: status
    if (status == WEFT_OK) return
    print '(a)', weft_last_error()
    error stop 1
  end subroutine
end module
