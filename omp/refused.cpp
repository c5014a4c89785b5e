// What OpenMP and libgomp have and Weft has not: one line that names it, and the program ends. So nothing is silently
// wrong, and nothing goes to a second runtime beside this one.
#include "omp/abi.hpp"

using namespace weft::omp;

#define WEFT_REFUSE(NAME, WHAT)                                                                                        \
  WEFT_OMP void NAME() { refuse(#NAME ": " WHAT); }

#define WEFT_NO_TARGET "target constructs are not supported; the host has no devices here"
#define WEFT_TOO_OLD "a call of GCC before 4.9; build the program with a newer one"

extern "C" {
WEFT_REFUSE(GOMP_target, WEFT_NO_TARGET)
WEFT_REFUSE(GOMP_target_ext, WEFT_NO_TARGET)
WEFT_REFUSE(GOMP_target_data, WEFT_NO_TARGET)
WEFT_REFUSE(GOMP_target_data_ext, WEFT_NO_TARGET)
WEFT_REFUSE(GOMP_target_end_data, WEFT_NO_TARGET)
WEFT_REFUSE(GOMP_target_update, WEFT_NO_TARGET)
WEFT_REFUSE(GOMP_target_update_ext, WEFT_NO_TARGET)
WEFT_REFUSE(GOMP_target_enter_exit_data, WEFT_NO_TARGET)
WEFT_REFUSE(GOMP_teams, WEFT_NO_TARGET)
WEFT_REFUSE(GOMP_teams4, WEFT_NO_TARGET)
WEFT_REFUSE(omp_target_alloc, WEFT_NO_TARGET)
WEFT_REFUSE(omp_target_free, WEFT_NO_TARGET)
WEFT_REFUSE(omp_target_is_present, WEFT_NO_TARGET)
WEFT_REFUSE(omp_target_memcpy, WEFT_NO_TARGET)
WEFT_REFUSE(omp_target_memcpy_rect, WEFT_NO_TARGET)
WEFT_REFUSE(omp_target_associate_ptr, WEFT_NO_TARGET)
WEFT_REFUSE(omp_target_disassociate_ptr, WEFT_NO_TARGET)
WEFT_REFUSE(GOMP_parallel_start, WEFT_TOO_OLD)
WEFT_REFUSE(GOMP_parallel_end, WEFT_TOO_OLD)
WEFT_REFUSE(GOMP_parallel_loop_static_start, WEFT_TOO_OLD)
WEFT_REFUSE(GOMP_parallel_loop_dynamic_start, WEFT_TOO_OLD)
WEFT_REFUSE(GOMP_parallel_loop_guided_start, WEFT_TOO_OLD)
WEFT_REFUSE(GOMP_parallel_loop_runtime_start, WEFT_TOO_OLD)
WEFT_REFUSE(GOMP_parallel_sections_start, WEFT_TOO_OLD)
WEFT_REFUSE(GOMP_loop_doacross_start, "doacross loops with reductions are not supported")
WEFT_REFUSE(GOMP_loop_ull_doacross_start, "doacross loops with reductions are not supported")
// Code for devices that lies in the program registers itself when it is loaded; that it is there does no harm.
WEFT_OMP void GOMP_offload_register(const void*, int, const void*) {}
WEFT_OMP void GOMP_offload_register_ver(unsigned, const void*, int, const void*) {}
WEFT_OMP void GOMP_offload_unregister(const void*, int, const void*) {}
WEFT_OMP void GOMP_offload_unregister_ver(unsigned, const void*, int, const void*) {}
}
