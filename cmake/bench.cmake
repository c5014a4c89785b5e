# The systems of `weft bench`, a program each in build/<preset>/bench/systems: the same runner, the same problems, and
# one file that is the system. Peers are built where their Debian package is installed (cmake/setup.sh bench); the tool
# says of the others which package is missing.
set(weft_bench_dir bench/systems)
set(weft_bench_dir_installed ${CMAKE_INSTALL_LIBEXECDIR}/weft/bench)
set(weft_bench_common bench/runner.cpp bench/measure.cpp bench/problem.cpp bench/recursion.cpp)

add_library(weft_bench_common OBJECT ${weft_bench_common})
target_include_directories(weft_bench_common PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_features(weft_bench_common PUBLIC cxx_std_20)
target_link_libraries(weft_bench_common PRIVATE weft_strict)

function(weft_bench_system name source)
  add_executable(bench_system_${name} ${source})
  target_include_directories(bench_system_${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(bench_system_${name} PRIVATE weft_bench_common ${ARGN} weft_strict)
  set_target_properties(
    bench_system_${name} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${weft_bench_dir}
                                    INSTALL_RPATH "$ORIGIN/../../../${CMAKE_INSTALL_LIBDIR}")
  if(WEFT_INSTALL)
    install(TARGETS bench_system_${name} DESTINATION ${weft_bench_dir_installed} COMPONENT bench)
  endif()
  set(weft_bench_systems ${weft_bench_systems} ${name} PARENT_SCOPE)
  add_dependencies(bench_systems bench_system_${name})
endfunction()

add_custom_target(bench_systems)
set(weft_bench_systems "")
weft_bench_system(serial bench/serial_system.cpp)
weft_bench_system(weft bench/weft_system.cpp weft::weft)
target_sources(bench_system_weft PRIVATE bench/weft_recursions.cpp)

# No system: what moves between two cores for each task, counted on the virtual machine.
add_executable(bench_transfers bench/transfers.cpp bench/problem.cpp bench/recursion.cpp)
target_include_directories(bench_transfers PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(bench_transfers PRIVATE weft::weft weft_strict)
set_target_properties(bench_transfers PROPERTIES OUTPUT_NAME transfers
                                                 RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)

# Nor this: the programs that `make ablate` runs without each rule in turn.
add_executable(bench_ablation bench/ablation/main.cpp bench/ablation/submitters.cpp bench/ablation/forks.cpp
                              bench/ablation/fronts.cpp bench/problem.cpp bench/recursion.cpp)
target_include_directories(bench_ablation PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(bench_ablation PRIVATE weft::weft weft_strict)
set_target_properties(bench_ablation PROPERTIES OUTPUT_NAME ablation
                                                RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)

# Nor this: what a submission costs its thread, inline and handed over.
add_executable(bench_handoff bench/handoff.cpp)
target_link_libraries(bench_handoff PRIVATE weft::weft weft_strict)
set_target_properties(bench_handoff PROPERTIES OUTPUT_NAME handoff RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)

# Nor this: what a team costs, beside a region of OpenMP.
find_package(OpenMP QUIET COMPONENTS CXX)
if(OpenMP_CXX_FOUND)
  add_executable(bench_teams bench/teams.cpp)
  target_link_libraries(bench_teams PRIVATE weft::weft weft_strict OpenMP::OpenMP_CXX)
  set_target_properties(bench_teams PROPERTIES OUTPUT_NAME teams RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
endif()

# Nor these: elements that flow from task to task, a program for each system, which bench/flow/run.py has take turns.
function(weft_bench_flow name)
  add_executable(bench_flow_${name} bench/flow/${name}_flow.cpp bench/measure.cpp bench/problem.cpp
                                    bench/recursion.cpp)
  target_include_directories(bench_flow_${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(bench_flow_${name} PRIVATE ${ARGN} weft_strict)
  set_target_properties(bench_flow_${name} PROPERTIES OUTPUT_NAME ${name}
                                                      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench/flow)
  target_compile_features(bench_flow_${name} PRIVATE cxx_std_20)
endfunction()
weft_bench_flow(weft weft::weft)
weft_bench_flow(weft_pipeline weft::weft)

# The network model beside SimGrid's (guide, page 53), where that is installed.
find_path(SIMGRID_INCLUDE_DIR simgrid/s4u.hpp)
find_library(SIMGRID_LIBRARY simgrid)
if(SIMGRID_INCLUDE_DIR AND SIMGRID_LIBRARY)
  add_executable(bench_simgrid_network EXCLUDE_FROM_ALL bench/simgrid_network.cpp src/model/network.cpp
                                                        src/model/fabric.cpp src/model/sharing.cpp src/base/assert.cpp)
  target_include_directories(bench_simgrid_network PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_include_directories(bench_simgrid_network SYSTEM PRIVATE ${SIMGRID_INCLUDE_DIR})
  target_link_libraries(bench_simgrid_network PRIVATE ${SIMGRID_LIBRARY} weft_strict)
  target_compile_features(bench_simgrid_network PRIVATE cxx_std_20)
  set_target_properties(bench_simgrid_network PROPERTIES OUTPUT_NAME simgrid-network RUNTIME_OUTPUT_DIRECTORY
                                                                                     ${PROJECT_BINARY_DIR}/bench)
endif()

# Nor this: what ordered sections cost and gain, beside a plain loop and the serial executor.
add_executable(bench_ordered bench/ordered.cpp bench/measure.cpp bench/problem.cpp bench/recursion.cpp)
target_include_directories(bench_ordered PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(bench_ordered PRIVATE weft::weft weft_strict)
set_target_properties(bench_ordered PROPERTIES OUTPUT_NAME ordered RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
target_compile_features(bench_ordered PRIVATE cxx_std_20)

# Nor this: what sorting costs, beside the standard library and oneTBB.
add_executable(bench_sort bench/sort.cpp)
target_link_libraries(bench_sort PRIVATE weft::weft weft_strict)
set_target_properties(bench_sort PROPERTIES OUTPUT_NAME sort RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  weft_bench_system(libgomp bench/openmp_system.cpp)
  target_compile_options(bench_system_libgomp PRIVATE -fopenmp)
  target_link_options(bench_system_libgomp PRIVATE -fopenmp)
endif()

find_package(TBB QUIET)
if(TBB_FOUND)
  weft_bench_system(tbb bench/tbb_system.cpp TBB::tbb)
  weft_bench_flow(tbb TBB::tbb)
  target_compile_definitions(bench_sort PRIVATE WEFT_BENCH_TBB)
  target_link_libraries(bench_sort PRIVATE TBB::tbb)
endif()

pkg_check_modules(STARPU QUIET IMPORTED_TARGET starpu-1.3)
if(STARPU_FOUND)
  weft_bench_system(starpu bench/starpu_system.cpp PkgConfig::STARPU)
endif()

# clang, because g++ calls libgomp's functions, which libomp only imitates. One project has one C++ compiler in CMake,
# so this program is made by a command.
find_program(WEFT_CLANG NAMES clang++-16 clang++ DOC "clang++ with libomp, for weft bench")
if(WEFT_CLANG)
  set(probe ${PROJECT_BINARY_DIR}/libomp_probe)
  file(WRITE ${probe}.cpp "#include <omp.h>\nint main() { return omp_get_max_threads() == 0; }\n")
  execute_process(COMMAND ${WEFT_CLANG} -fopenmp=libomp ${probe}.cpp -o ${probe} RESULT_VARIABLE no_libomp OUTPUT_QUIET
                                                                                 ERROR_QUIET)
endif()
if(WEFT_CLANG AND NOT no_libomp)
  set(program ${PROJECT_BINARY_DIR}/${weft_bench_dir}/libomp)
  set(sources ${weft_bench_common} bench/openmp_system.cpp)
  list(TRANSFORM sources PREPEND ${PROJECT_SOURCE_DIR}/)
  file(GLOB headers CONFIGURE_DEPENDS bench/*.hpp)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  separate_arguments(flags NATIVE_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}")
  add_custom_command(
    OUTPUT ${program}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/${weft_bench_dir}
    COMMAND ${WEFT_CLANG} -std=c++20 ${flags} -fopenmp=libomp -I${PROJECT_SOURCE_DIR} ${sources} -o ${program}
    DEPENDS ${sources} ${headers}
    COMMENT "Building bench/systems/libomp with ${WEFT_CLANG}"
    VERBATIM)
  add_custom_target(bench_system_libomp ALL DEPENDS ${program})
  add_dependencies(bench_systems bench_system_libomp)
  if(WEFT_INSTALL)
    install(PROGRAMS ${program} DESTINATION ${weft_bench_dir_installed} COMPONENT bench)
  endif()
  list(APPEND weft_bench_systems libomp)
endif()

include(cmake/bench_rust.cmake)
