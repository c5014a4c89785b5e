# Every test, by label: unit stress golden apps model compile_fail install tidy page paper cost. No list by hand:
#   src/**/x_test.cpp, tests/conformance/*.cpp   doctest cases of one program, weft_unit; one ctest entry per file
#   tests/narrow/*.cpp                           the same of weft_narrow, the library with 8-bit versions
#   src/**/x_model.cpp, tests/stress/*.cpp       a program each; exit status 0 is a pass
#   {apps,bench,tools}/**/x_test.cpp             doctest cases of weft_apps_test
#   tests/check/x.cpp                            programs that tests/tool/check_test.py has checked
#   tests/tool/x_test.py                         a script that gets --weft PATH
#   examples/<name>/main.{cpp,c,f90}             a program each, compared with main.expect
#   src/**/x_bench.cpp                           a program each, built by the target `benches`, never run by ctest
find_package(doctest REQUIRED)
find_package(rapidcheck REQUIRED)
set(python ${Python3_EXECUTABLE})
set(tests ${PROJECT_SOURCE_DIR}/tests)

function(weft_test name label seconds)
  add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  math(EXPR limit "${seconds} * ${WEFT_TIMEOUT_FACTOR}")
  set_tests_properties(
    ${name} PROPERTIES LABELS "${label}" TIMEOUT ${limit} SKIP_RETURN_CODE 77
                       ENVIRONMENT "${WEFT_TEST_ENVIRONMENT}")
endfunction()

# A program with its own main, in build/<preset>/<folder>/<name>.
function(weft_program target folder name source)
  add_executable(${target} ${source})
  target_link_libraries(${target} PRIVATE weft::weft weft_strict)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name}
                                             RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${folder})
endfunction()

# src/sched/deque_test.cpp -> sched/deque
function(weft_stem out source)
  file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${source})
  string(REGEX REPLACE "^(src|tests)/" "" path ${path})
  string(REGEX REPLACE "(_test|_model|_bench)?\\.cpp$" "" path ${path})
  set(${out} ${path} PARENT_SCOPE)
endfunction()

# One ctest entry per source file; a file in which doctest finds no case fails.
function(weft_doctests program prefix label)
  foreach(source IN LISTS ARGN)
    weft_stem(stem ${source})
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${source})
    weft_test(${prefix}${stem} "${label}" 60 ${WEFT_TEST_LAUNCHER} $<TARGET_FILE:${program}> --source-file=*${path})
    set_tests_properties(${prefix}${stem} PROPERTIES FAIL_REGULAR_EXPRESSION "test cases: +0 ")
  endforeach()
endfunction()

# unit and conformance
file(GLOB_RECURSE unit_sources CONFIGURE_DEPENDS src/*_test.cpp)
file(GLOB conformance_sources CONFIGURE_DEPENDS tests/conformance/*.cpp)
add_executable(weft_unit tests/main.cpp ${unit_sources} ${conformance_sources})
target_include_directories(weft_unit PRIVATE src tests)
target_link_libraries(weft_unit PRIVATE weft::weft weft_strict doctest::doctest rapidcheck PkgConfig::HWLOC
                                        SQLite::SQLite3 Boost::context Threads::Threads)
weft_doctests(weft_unit unit/ unit ${unit_sources})
weft_doctests(weft_unit "" "unit;conformance" ${conformance_sources})

# The library once more with versions of 8 bits, which wrap all the time (src/access/version.md). Once, in the preset
# that builds everything: it is half a build.
if(WEFT_APPS)
  file(GLOB narrow_sources CONFIGURE_DEPENDS tests/narrow/*.cpp)
  set(narrow_access version_test.cpp condition_test.cpp)
  list(TRANSFORM narrow_access PREPEND ${PROJECT_SOURCE_DIR}/src/access/)
  add_executable(weft_narrow tests/main.cpp ${narrow_sources} ${narrow_access} ${weft_sources} ${machines_source})
  target_compile_definitions(weft_narrow PRIVATE WEFT_VERSION_BITS=8)
  target_compile_features(weft_narrow PRIVATE cxx_std_20)
  target_include_directories(weft_narrow PRIVATE include src tests)
  target_include_directories(weft_narrow SYSTEM PRIVATE ${TOMLPLUSPLUS_INCLUDE_DIR})
  target_link_libraries(weft_narrow PRIVATE weft_strict doctest::doctest PkgConfig::HWLOC SQLite::SQLite3 Boost::context
                                            Threads::Threads)
  weft_doctests(weft_narrow "" unit ${narrow_sources})
  weft_doctests(weft_narrow narrow/ unit ${narrow_access})
endif()

# stress and model
file(GLOB stress_sources CONFIGURE_DEPENDS tests/stress/*.cpp)
file(GLOB_RECURSE model_sources CONFIGURE_DEPENDS src/*_model.cpp)
foreach(source IN LISTS stress_sources model_sources)
  weft_stem(stem ${source})
  string(REPLACE "/" "_" target ${stem})
  if(source IN_LIST stress_sources)
    weft_program(${target} tests ${target} ${source})
    target_include_directories(${target} PRIVATE src tests)
    weft_test(${stem} stress 120 ${WEFT_TEST_LAUNCHER} $<TARGET_FILE:${target}>)
  else()
    weft_program(model_${target} tests model_${target} ${source})
    target_include_directories(model_${target} PRIVATE src)
    weft_test(model/${stem} model 120 ${WEFT_TEST_LAUNCHER} $<TARGET_FILE:model_${target}>)
  endif()
endforeach()
# Programs for tests/tool/check_test.py to check.
if(WEFT_APPS)
  file(GLOB check_sources CONFIGURE_DEPENDS tests/check/*.cpp)
  foreach(source IN LISTS check_sources)
    get_filename_component(name ${source} NAME_WE)
    weft_program(check_${name} tests check_${name} ${source})
  endforeach()
endif()
# tests/stress/refused.cpp stands between the library and the system.
target_link_options(stress_refused PRIVATE LINKER:--wrap=pthread_create,--wrap=pthread_setaffinity_np)

# benches
add_custom_target(benches)
file(GLOB_RECURSE bench_sources CONFIGURE_DEPENDS src/*_bench.cpp)
foreach(source IN LISTS bench_sources)
  weft_stem(stem ${source})
  string(REPLACE "/" "_" target ${stem})
  weft_program(bench_${target} bench ${target} ${source})
  target_include_directories(bench_${target} PRIVATE src)
  set_target_properties(bench_${target} PROPERTIES EXCLUDE_FROM_ALL ON)
  add_dependencies(benches bench_${target})
endforeach()

# examples, three languages. C and Fortran have no weft_strict, whose warnings are for C++; the C++ compiler links all.
enable_language(C)
include(CheckLanguage)
check_language(Fortran)
if(CMAKE_Fortran_COMPILER)
  enable_language(Fortran)
  set(fortran_examples examples/*/main.f90)
else()
  message(STATUS "no Fortran compiler: examples/fortran-* are neither built nor tested")
endif()

function(weft_program_in_c_or_fortran target folder name source)
  get_filename_component(sources ${source} DIRECTORY)
  file(GLOB sources CONFIGURE_DEPENDS ${sources}/*.c ${sources}/*.f90)
  add_executable(${target} ${sources})
  target_link_libraries(${target} PRIVATE weft::weft)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic)
  target_link_options(${target} PRIVATE $<TARGET_PROPERTY:weft_strict,INTERFACE_LINK_OPTIONS>)
  set_target_properties(
    ${target} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${folder} C_STANDARD 99
                         C_EXTENSIONS OFF LINKER_LANGUAGE CXX
                         Fortran_MODULE_DIRECTORY ${PROJECT_BINARY_DIR}/${folder}/${name}.modules)
endfunction()

add_custom_target(examples)
file(GLOB example_sources CONFIGURE_DEPENDS examples/*/main.cpp examples/*/main.c ${fortran_examples})
foreach(source IN LISTS example_sources)
  get_filename_component(name ${source} DIRECTORY)
  get_filename_component(name ${name} NAME)
  if(source MATCHES "\\.cpp$")
    weft_program(example_${name} examples ${name} ${source})
  else()
    weft_program_in_c_or_fortran(example_${name} examples ${name} ${source})
  endif()
  add_dependencies(examples example_${name})
  weft_test(golden/${name} golden 60 ${python} ${tests}/golden.py ${PROJECT_BINARY_DIR} ${name})
endforeach()

# weft.h is C and C++
set(c_header -Wall -Wextra -Wpedantic -Werror -fsyntax-only -include ${PROJECT_SOURCE_DIR}/include/weft.h /dev/null)
weft_test(c_header/c99 compile_fail 60 ${CMAKE_C_COMPILER} -std=c99 -Wstrict-prototypes -x c ${c_header})
weft_test(c_header/cpp compile_fail 60 ${CMAKE_CXX_COMPILER} -std=c++11 -Wold-style-cast -x c++ ${c_header})

# apps, bench and the tool
if(WEFT_APPS)
  file(GLOB_RECURSE apps_tests CONFIGURE_DEPENDS apps/*_test.cpp bench/*_test.cpp tools/*_test.cpp)
  add_executable(weft_apps_test tests/main.cpp ${apps_tests})
  target_link_libraries(weft_apps_test PRIVATE weft_tool_parts weft_strict doctest::doctest rapidcheck)
  weft_doctests(weft_apps_test "" apps ${apps_tests})
  set(matrix ${PROJECT_SOURCE_DIR}/apps/cholesky/data/bar.mtx)
  weft_test(tool/demo-matrix apps 60 $<TARGET_FILE:weft_tool> run cholesky --matrix ${matrix})
  file(GLOB tool_scripts CONFIGURE_DEPENDS tests/tool/*_test.py)
  foreach(script IN LISTS tool_scripts)
    get_filename_component(name ${script} NAME_WE)
    weft_test(tool/${name} apps 300 ${python} ${script} --weft $<TARGET_FILE:weft_tool>)
  endforeach()
  foreach(name IN LISTS weft_bench_systems)  # each right on every problem, in small
    weft_test(bench/system/${name} apps 120 ${PROJECT_BINARY_DIR}/${weft_bench_dir}/${name} --check)
  endforeach()
endif()

if(WEFT_APPS)
  weft_test(bench/transfers cost 120 $<TARGET_FILE:bench_transfers> --check)
endif()

# what a task costs in instructions; the record is of the release build
if(WEFT_APPS AND CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT WEFT_SANITIZE)
  weft_test(instructions cost 300 ${python} ${tests}/instructions.py --programs ${PROJECT_BINARY_DIR}/${weft_bench_dir}
            --compiler "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
  weft_test(instructions/self-test cost 60 ${python} ${tests}/instructions.py --self-test)
endif()

# papers: what their claims tables say is reproduced
if(WEFT_APPS)
  file(GLOB paper_scripts CONFIGURE_DEPENDS papers/*/run.py)
  foreach(script IN LISTS paper_scripts)
    get_filename_component(name ${script} DIRECTORY)
    get_filename_component(name ${name} NAME)
    weft_test(papers/${name} paper 300 ${python} ${script} --weft $<TARGET_FILE:weft_tool>)
  endforeach()
endif()

# the programs in README.md and in the guide
file(GLOB pages CONFIGURE_DEPENDS README.md docs/guide/*.md)
set(page_flags "-std=c++20 -O1 -I${PROJECT_SOURCE_DIR}/include")
if(WEFT_SANITIZE)
  string(APPEND page_flags " -fsanitize=${WEFT_SANITIZE}")
endif()
list(JOIN HWLOC_LINK_LIBRARIES " " page_libraries)
string(APPEND page_libraries " ${SQLite3_LIBRARIES}")
foreach(page IN LISTS pages)
  file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${page})
  string(REGEX REPLACE "(^docs/)|(\\.md$)" "" name ${name})
  weft_test(
    page/${name} page 120 ${python} ${tests}/pages.py ${page} --compiler ${CMAKE_CXX_COMPILER}
    "--flags=${page_flags}" "--link=$<TARGET_FILE:weft> ${page_libraries} $<TARGET_FILE:Boost::context> -pthread"
    --scratch ${PROJECT_BINARY_DIR}/pages)
endforeach()

# what must not compile, and what compiling costs
file(GLOB fail_sources CONFIGURE_DEPENDS tests/compile_fail/*.cpp)
set(compiler --compiler ${CMAKE_CXX_COMPILER} --include ${PROJECT_SOURCE_DIR}/include)
foreach(source IN LISTS fail_sources)
  weft_stem(stem ${source})
  weft_test(${stem} compile_fail 60 ${python} ${tests}/compile_fail.py ${compiler} ${source})
endforeach()
weft_test(header_cost tidy 120 ${python} ${tests}/header_cost.py ${compiler})
set_tests_properties(header_cost PROPERTIES RUN_SERIAL ON)

# install
weft_test(install install 300 ${python} ${tests}/install/run.py --build ${PROJECT_BINARY_DIR} --cmake ${CMAKE_COMMAND}
          --compiler ${CMAKE_CXX_COMPILER})

# tidy
weft_test(tidy tidy 60 ${python} ${tests}/tidy.py)
weft_test(tidy/self-test tidy 60 ${python} ${tests}/tidy.py --self-test)
weft_test(tidy/format tidy 240 ${python} ${tests}/format.py)
