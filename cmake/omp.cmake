# libweft-omp: programs that g++ -fopenmp has built, unmodified, on Weft's scheduler (omp/README.md). It stands in for
# libgomp by its soname, so it lies in a folder of its own, where ldconfig does not find it: only who asks for it, by
# LD_PRELOAD or `weft run --`, gets it.
file(GLOB omp_sources CONFIGURE_DEPENDS omp/*.cpp)
add_library(weft_omp SHARED ${omp_sources})
target_include_directories(weft_omp PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(weft_omp PRIVATE weft::weft Threads::Threads)
target_compile_options(weft_omp PRIVATE -fvisibility=hidden -fno-semantic-interposition)
if(TARGET weft_strict)
  target_link_libraries(weft_omp PRIVATE $<BUILD_INTERFACE:weft_strict>)
endif()
target_link_options(
  weft_omp PRIVATE LINKER:-soname,libgomp.so.1 LINKER:--version-script=${PROJECT_SOURCE_DIR}/omp/libgomp.map
                   LINKER:--exclude-libs,ALL)
set_target_properties(
  weft_omp
  PROPERTIES OUTPUT_NAME weft-omp
             NO_SONAME ON
             LINK_DEPENDS ${PROJECT_SOURCE_DIR}/omp/libgomp.map
             LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
             INSTALL_RPATH "$ORIGIN/..")
if(WEFT_INSTALL)
  install(TARGETS weft_omp LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/weft COMPONENT tool)
endif()

# Programs of tests/omp, built as a user builds them, without anything of Weft's.
function(weft_omp_tests)
  if(NOT OpenMP_CXX_FOUND OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR WEFT_SANITIZE)
    return()
  endif()
  file(GLOB programs CONFIGURE_DEPENDS tests/omp/*.cpp)
  foreach(source IN LISTS programs)
    get_filename_component(name ${source} NAME_WE)
    add_executable(omp_${name} ${source})
    target_compile_features(omp_${name} PRIVATE cxx_std_20)
    target_link_libraries(omp_${name} PRIVATE OpenMP::OpenMP_CXX)
    set_target_properties(omp_${name} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY
                                                                     ${PROJECT_BINARY_DIR}/tests/omp)
  endforeach()
  add_executable(omp_figures EXCLUDE_FROM_ALL omp/figures/figures.cpp)
  target_compile_features(omp_figures PRIVATE cxx_std_20)
  target_link_libraries(omp_figures PRIVATE OpenMP::OpenMP_CXX)
  set(run ${python} ${PROJECT_SOURCE_DIR}/tests/omp/openmp_tests.py --library $<TARGET_FILE:weft_omp> --programs
      ${PROJECT_BINARY_DIR}/tests/omp --compiler ${CMAKE_CXX_COMPILER})
  if(WEFT_APPS)
    list(APPEND run --weft $<TARGET_FILE:weft_tool>)
  endif()
  weft_test(openmp stress ${run})
  weft_test(long/openmp long ${run} --times 50)
  set_tests_properties(long/openmp PROPERTIES TIMEOUT 36000)
endfunction()
