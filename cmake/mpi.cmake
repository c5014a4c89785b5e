# Ranks: the same program on several machines (mpi/README.md). libweft-ranks needs no MPI, so tests and a first try have
# threads for ranks; weft/mpi.hpp is a header, compiled with the program's own MPI.
file(GLOB ranks_sources CONFIGURE_DEPENDS mpi/*.cpp)
file(GLOB ranks_headers CONFIGURE_DEPENDS mpi/include/weft/*.hpp)
add_library(weft_ranks ${ranks_sources})
add_library(weft::ranks ALIAS weft_ranks)
target_sources(weft_ranks PUBLIC FILE_SET HEADERS BASE_DIRS mpi/include FILES ${ranks_headers})
target_link_libraries(weft_ranks PUBLIC weft Threads::Threads)
set_target_properties(
  weft_ranks
  PROPERTIES OUTPUT_NAME weft-ranks
             EXPORT_NAME ranks
             CXX_EXTENSIONS OFF
             POSITION_INDEPENDENT_CODE ON
             VERSION ${PROJECT_VERSION}
             SOVERSION ${PROJECT_VERSION_MAJOR})
if(TARGET weft_strict)
  target_link_libraries(weft_ranks PRIVATE $<BUILD_INTERFACE:weft_strict>)
endif()

set(MPI_CXX_SKIP_MPICXX ON)
find_package(MPI QUIET COMPONENTS CXX)
if(MPI_CXX_FOUND)
  add_library(weft_mpi INTERFACE)
  add_library(weft::mpi ALIAS weft_mpi)
  target_link_libraries(weft_mpi INTERFACE weft_ranks MPI::MPI_CXX)
else()
  message(STATUS "no MPI (Debian: libmpich-dev, mpich): ranks are threads, and weft/mpi.hpp is not tested")
endif()

if(WEFT_INSTALL)
  install(TARGETS weft_ranks EXPORT weft-ranks LIBRARY COMPONENT runtime NAMELINK_COMPONENT development
                                               ARCHIVE COMPONENT development FILE_SET HEADERS COMPONENT development)
  install(EXPORT weft-ranks NAMESPACE weft:: FILE weft-ranks.cmake DESTINATION ${weft_cmake_dir} COMPONENT development)
endif()

# Cases on ranks that are threads, and a program under mpiexec. Without the launcher, or where code is instrumented,
# which MPI is not, the latter are left out.
function(weft_mpi_tests)
  file(GLOB cases CONFIGURE_DEPENDS tests/mpi/*.cpp)
  add_executable(weft_ranks_test ${cases_main} ${cases})
  target_include_directories(weft_ranks_test PRIVATE tests ${PROJECT_SOURCE_DIR} mpi)
  target_link_libraries(weft_ranks_test PRIVATE weft_ranks weft_cases Threads::Threads)
  weft_doctests(weft_ranks_test "" "conformance;mpi" ${cases})
  foreach(stem failures messages programs)  # the same on modelled nodes
    weft_test(mpi/modelled/${stem} "conformance;mpi" ${WEFT_TEST_LAUNCHER} $<TARGET_FILE:weft_ranks_test>
              --source-file=*mpi/${stem}.cpp)
    set_property(TEST mpi/modelled/${stem} APPEND PROPERTY ENVIRONMENT RANKS=modelled)
  endforeach()
  add_executable(weft_ranks_program mpi/programs/in_process.cpp)
  target_link_libraries(weft_ranks_program PRIVATE weft_ranks weft_strict)
  set_target_properties(weft_ranks_program PROPERTIES OUTPUT_NAME weft-ranks RUNTIME_OUTPUT_DIRECTORY
                                                                             ${PROJECT_BINARY_DIR}/mpi)
  weft_test(mpi/weft-ranks mpi ${python} ${PROJECT_SOURCE_DIR}/tests/mpi/modelled_tests.py --program
            $<TARGET_FILE:weft_ranks_program>)
  if(NOT TARGET weft_mpi OR NOT MPIEXEC_EXECUTABLE OR WEFT_SANITIZE)
    return()
  endif()
  add_executable(weft_mpi_program mpi/programs/under_mpi.cpp)
  target_link_libraries(weft_mpi_program PRIVATE weft_mpi weft_strict)
  target_compile_options(weft_mpi_program PRIVATE -Wno-old-style-cast)  # macros of mpi.h
  set_target_properties(weft_mpi_program PROPERTIES OUTPUT_NAME weft-mpi RUNTIME_OUTPUT_DIRECTORY
                                                                         ${PROJECT_BINARY_DIR}/mpi)
  if(TARGET weft_apps)  # it has the tiles' kernels
    add_executable(weft_mpi_figures EXCLUDE_FROM_ALL mpi/figures/figures.cpp)
    target_include_directories(weft_mpi_figures PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(weft_mpi_figures PRIVATE weft_mpi weft_strict PkgConfig::OPENBLAS)
    target_compile_options(weft_mpi_figures PRIVATE -Wno-old-style-cast)
    set_target_properties(weft_mpi_figures PROPERTIES OUTPUT_NAME weft-mpi-figures RUNTIME_OUTPUT_DIRECTORY
                                                                                   ${PROJECT_BINARY_DIR}/mpi)
  endif()
  set(run ${python} ${PROJECT_SOURCE_DIR}/tests/mpi/mpi_tests.py --mpiexec ${MPIEXEC_EXECUTABLE} --program
          $<TARGET_FILE:weft_mpi_program>)
  weft_test(mpi/mpiexec mpi ${run})
  weft_test(long/mpi/mpiexec long ${run} --kills 50)
  set_tests_properties(long/mpi/mpiexec PROPERTIES TIMEOUT 36000)
endfunction()
