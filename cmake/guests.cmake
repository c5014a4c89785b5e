# Other runtimes as guests of a team (weft/guest.hpp): a test for each that is installed. Not under
# sanitizers, which do not see how code that is not instrumented synchronises.
if(NOT WEFT_SANITIZE)
  if(OpenMP_CXX_FOUND)
    weft_program(guests_openmp tests guests_openmp tests/guests/openmp.cpp)
    target_link_libraries(guests_openmp PRIVATE OpenMP::OpenMP_CXX)
    set_target_properties(guests_openmp PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
    weft_test(guests/openmp stress $<TARGET_FILE:guests_openmp>)
  endif()

  find_package(TBB QUIET)
  if(TBB_FOUND)
    weft_program(guests_onetbb tests guests_onetbb tests/guests/onetbb.cpp)
    target_link_libraries(guests_onetbb PRIVATE TBB::tbb)
    set_target_properties(guests_onetbb PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
    weft_test(guests/onetbb stress $<TARGET_FILE:guests_onetbb>)
  endif()

  if(WEFT_APPS)  # which find OpenBLAS
    weft_program(guests_openblas tests guests_openblas tests/guests/openblas.cpp)
    target_link_libraries(guests_openblas PRIVATE PkgConfig::OPENBLAS ${CMAKE_DL_LIBS})
    set_target_properties(guests_openblas PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
    weft_test(guests/openblas stress $<TARGET_FILE:guests_openblas>)
    # One from 0.3.28 on, which asks for threads by a callback: Debian 12 has none, PyPI does.
    set(newer "import os, scipy_openblas32 as o; print(os.path.join(o.get_lib_dir(), o.get_library(True)))")
    execute_process(COMMAND ${Python3_EXECUTABLE} -c "${newer}" OUTPUT_VARIABLE newer_openblas ERROR_QUIET
                                                                OUTPUT_STRIP_TRAILING_WHITESPACE)
    weft_test(guests/openblas-callback stress $<TARGET_FILE:guests_openblas> "${newer_openblas}")
  endif()
endif()
