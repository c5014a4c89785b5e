# Every test, by label: unit conformance exact narrow weak flawed stress found faults golden apps compile_fail install
# tidy page paper cost numa long. One that says `// Not in quick: why` is slow besides.
# No list by hand:
#   src/**/x_test.cpp                            doctest cases of one program, weft_unit; one ctest entry per file
#   tests/conformance/*.cpp, **/x_model_test.cpp the same of weft_conformance; some of weft_exact in an optimised build
#   tests/flawed/*.cpp                           the same of weft_flawed, engines that are broken on purpose
#   tests/narrow/*.cpp                           the same of weft_narrow, the library with 8-bit versions
#   tests/stress/*.cpp, tests/serial/elision.cpp a program each; exit status 0 is a pass
#   {apps,bench,tools}/**/x_test.cpp             doctest cases of weft_apps_test
#   tests/found/x.cpp                            a program each, which tests/found.py runs in many ways
#   tests/faults/*.cpp                           weft_faults: calls of the system fail on command
#   tests/check/x.cpp                            programs that tests/tool/check_test.py has checked
#   tests/predicted/*.cpp                        programs that tests/predicted.py runs beside what is predicted of them
#   tests/omp/x.cpp                              programs that tests/omp/openmp_tests.py runs by libgomp and on Weft
#   tests/mpi/x.cpp                              doctest cases of weft_ranks_test, on threads and on modelled nodes;
#                                                mpi/programs on these, and under mpiexec
#   tests/guests/x.cpp                           a program for each runtime that is a guest (cmake/guests.cmake)
#   tests/numa/guest.cpp                         a program that tests/numa/boot.py boots, with 4 and with 8 memory nodes
#   tests/tool/x_test.py                         a script that gets --weft PATH
#   tests/fuzz/tool_fuzz.py                      the tool on spoiled files: 300 every day, 100,000 at night
#   examples/<name>/main.{cpp,c,f90}             a program each, compared with main.expect
#   examples/from-x/original.cpp                 what it comes from (cmake/originals.cmake)
#   src/**/x_bench.cpp                           a program each, built by the target `benches`, never run by ctest
find_package(doctest REQUIRED)
find_package(rapidcheck REQUIRED)
# The interpreter itself: what is first in the path may be a script that looks for it, 0.1 s each time.
execute_process(
  COMMAND ${Python3_EXECUTABLE} -c "import sys; print(sys.executable)" OUTPUT_VARIABLE python
  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(tests ${PROJECT_SOURCE_DIR}/tests)

# The limit is a guard against hangs and judges nothing: other programs may have all of the cores but a sliver. What a
# test starts and waits for has 600 s, so that it says itself what hung.
function(weft_test name label)
  add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  math(EXPR limit "1800 * ${WEFT_TIMEOUT_FACTOR}")
  set_tests_properties(
    ${name} PROPERTIES LABELS "${label}" TIMEOUT ${limit} SKIP_RETURN_CODE 77
                       ENVIRONMENT "${WEFT_TEST_ENVIRONMENT}")
endfunction()

# A program with its own main, in build/<preset>/<folder>/<name>. All of them use the precompiled headers of one target,
# but for those that are compiled with more flags, which it could not be.
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/generated/program.cpp CONTENT "")
add_library(weft_programs OBJECT ${PROJECT_BINARY_DIR}/generated/program.cpp)
target_link_libraries(weft_programs PRIVATE weft::lab weft_strict)
weft_at_once(weft_programs HEADERS <algorithm> <atomic> <cstdio> <memory> <string> <thread> <vector> <weft/weft.hpp>)
get_target_property(programs_precompile weft_programs PRECOMPILE_HEADERS)
function(weft_program target folder name source)
  add_executable(${target} ${source})
  target_link_libraries(${target} PRIVATE weft::lab weft_strict)
  if(programs_precompile)
    target_precompile_headers(${target} REUSE_FROM weft_programs)
  endif()
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name}
                                             RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${folder})
endfunction()

# src/sched/queues/deque_test.cpp -> sched/queues/deque
function(weft_stem out source)
  file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${source})
  string(REGEX REPLACE "^(src|tests)/" "" path ${path})
  string(REGEX REPLACE "(_test|_bench)?\\.cpp$" "" path ${path})
  set(${out} ${path} PARENT_SCOPE)
endfunction()

# One ctest entry per source file; a file in which doctest finds no case fails.
function(weft_doctests program prefix label)
  foreach(source IN LISTS ARGN)
    weft_stem(stem ${source})
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${source})
    weft_test(${prefix}${stem} "${label}" ${WEFT_TEST_LAUNCHER} $<TARGET_FILE:${program}> --source-file=*${path})
    set_tests_properties(${prefix}${stem} PROPERTIES FAIL_REGULAR_EXPRESSION "test cases: +0 ")
    file(STRINGS ${source} slow REGEX "^// Not in quick: " LIMIT_COUNT 1)
    if(slow)
      set_tests_properties(${prefix}${stem} PROPERTIES LABELS "${label};slow")
    endif()
  endforeach()
endfunction()

# How the programs of doctest cases are compiled. -O1, because what is tested at full speed is the library itself; the
# stress programs, which are users' code, have the build's own level, for what an optimiser may do to inlined paths.
# Instrumented code takes two to three times as long to optimise as to run, so it is not. An assertion of doctest is
# one call, without a try block of its own: an exception in one still fails its case.
add_library(weft_cases INTERFACE)
if(WEFT_SANITIZE)
  target_compile_options(weft_cases INTERFACE -O0)
else()
  set(cases_of_nouns $<AND:$<CONFIG:Debug>,$<STREQUAL:$<TARGET_PROPERTY:NAME>,weft_unit>>)
  # That warning needs an optimiser's eyes: without one g++ takes an empty lambda for a variable without a value.
  target_compile_options(weft_cases INTERFACE "$<IF:${cases_of_nouns},-O0;-Wno-maybe-uninitialized,-O1>")
endif()
target_compile_definitions(weft_cases INTERFACE DOCTEST_CONFIG_SUPER_FAST_ASSERTS)
target_link_libraries(weft_cases INTERFACE weft_strict doctest::doctest rapidcheck)
add_library(weft_cases_main OBJECT tests/main.cpp)
target_compile_features(weft_cases_main PRIVATE cxx_std_20)
target_link_libraries(weft_cases_main PRIVATE weft_cases)
set(cases_main $<TARGET_OBJECTS:weft_cases_main>)

# Unit and conformance, two programs. For each change they run where code is instrumented, an optimised build has them
# at night: what optimised code may do otherwise, stress, apps, examples and pages show meanwhile.
file(GLOB_RECURSE unit_sources CONFIGURE_DEPENDS src/*_test.cpp)
file(GLOB conformance_sources CONFIGURE_DEPENDS tests/conformance/*.cpp)
if(WEFT_SANITIZE MATCHES "thread") # it has nothing to see where one thread plays all cores, or there is none but main
  list(FILTER unit_sources EXCLUDE REGEX "/src/(base|place|model)/|/src/lab/|_model_test\\.cpp$")
  list(FILTER conformance_sources EXCLUDE REGEX "/(analytic|coarse|fanout|pushing)\\.cpp$")
endif()
# These count blocks, turns and nanoseconds, of which instrumented code has others. An optimised build has them as a
# program of their own, for each change.
set(exact_sources ${conformance_sources})
list(FILTER exact_sources INCLUDE REGEX "/(decisions|leaves_nothing|measured|said)\\.cpp$")
if(WEFT_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL "Release")
  list(REMOVE_ITEM conformance_sources ${exact_sources})
endif()
set(model_sources ${unit_sources})
set(many_schedules "(_model|/random_program|/speculative)_test\\.cpp$")
list(FILTER model_sources INCLUDE REGEX ${many_schedules})
list(FILTER unit_sources EXCLUDE REGEX ${many_schedules})
add_executable(weft_unit ${cases_main} ${unit_sources})
add_executable(weft_conformance ${cases_main} ${conformance_sources} ${model_sources})
set(doctest_programs weft_unit weft_conformance)
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  add_executable(weft_exact ${cases_main} ${exact_sources})
  list(APPEND doctest_programs weft_exact)
endif()
foreach(program IN LISTS doctest_programs)
  target_include_directories(${program} PRIVATE src tests)
  target_link_libraries(${program} PRIVATE weft::lab weft_cases PkgConfig::HWLOC SQLite::SQLite3 Boost::context
                                           Threads::Threads)
  if(CMAKE_BUILD_TYPE STREQUAL "Debug")
    target_compile_options(${program} PRIVATE -g1) # lines without variables: a third less to compile
  endif()
  target_precompile_headers(${program} PRIVATE <algorithm> <functional> <memory> <string> <thread> <vector>
                            <doctest/doctest.h> <weft/weft.hpp>)
endforeach()
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  set_target_properties(weft_unit weft_conformance PROPERTIES EXCLUDE_FROM_ALL ON)
  weft_doctests(weft_exact "" exact ${exact_sources})
endif()
weft_doctests(weft_unit unit/ unit ${unit_sources})
weft_doctests(weft_conformance unit/ conformance ${model_sources})
weft_doctests(weft_conformance "" conformance ${conformance_sources})
foreach(program weft_unit weft_conformance)
  weft_test(long/seeds/${program} long ${WEFT_TEST_LAUNCHER} $<TARGET_FILE:${program}>)  # those with seeds with many
  set_tests_properties(
    long/seeds/${program} PROPERTIES TIMEOUT 36000 ENVIRONMENT "${WEFT_TEST_ENVIRONMENT};WEFT_TEST_SEEDS=100000")
endforeach()

# All numbers of workers, beside a program that spins and sleeps on the same cores.
weft_test(long/wide/conformance long ${python} ${tests}/beside.py --build ${PROJECT_BINARY_DIR} disturb
          $<TARGET_FILE:weft_conformance>)
set_tests_properties(
  long/wide/conformance PROPERTIES TIMEOUT 36000 ENVIRONMENT "${WEFT_TEST_ENVIRONMENT};WEFT_TEST_WIDE=1")

# Engines on machines of their own, broken on purpose, which the suite must notice. Each compiles the whole scheduler
# again; so they are a program of their own, `quick` does without, and once is enough: not where code is instrumented.
if(NOT WEFT_SANITIZE)
  file(GLOB flawed_sources CONFIGURE_DEPENDS tests/flawed/*.cpp)
  add_executable(weft_flawed ${cases_main} ${flawed_sources})
  target_include_directories(weft_flawed PRIVATE src tests)
  target_link_libraries(weft_flawed PRIVATE weft::weft weft_cases Boost::context Threads::Threads)
  weft_doctests(weft_flawed "" flawed ${flawed_sources})
endif()

# The library once more with versions of 8 bits, which wrap all the time (src/access/version.md). The rooms below
# `access` cannot know of versions (tests/tidy.py holds the floors): their objects are the library's own. Once, in the
# preset that builds everything: it holds both engines again, and `quick` is to be quick.
if(WEFT_APPS AND CMAKE_BUILD_TYPE STREQUAL "Release")
  file(GLOB narrow_sources CONFIGURE_DEPENDS tests/narrow/*.cpp)
  set(narrow_access version_test.cpp condition_test.cpp)
  list(TRANSFORM narrow_access PREPEND ${PROJECT_SOURCE_DIR}/src/access/)
  set(below_access "src[/_](base|place|task|memory|model)[/_]")
  set(version_sources ${weft_sources})
  list(FILTER version_sources EXCLUDE REGEX ${below_access})
  add_executable(
    weft_narrow ${cases_main} ${narrow_sources} ${narrow_access} ${version_sources}
                $<FILTER:$<TARGET_OBJECTS:weft>,INCLUDE,${below_access}|/generated/>)
  target_compile_definitions(weft_narrow PRIVATE WEFT_VERSION_BITS=8)
  target_compile_features(weft_narrow PRIVATE cxx_std_20)
  target_include_directories(weft_narrow PRIVATE include src tests)
  target_link_libraries(weft_narrow PRIVATE weft_cases PkgConfig::HWLOC SQLite::SQLite3 Boost::context
                                            Threads::Threads)
  weft_at_once(weft_narrow HEADERS ${weft_library_headers} ALONE ${weft_library_alone})
  weft_doctests(weft_narrow "" narrow ${narrow_sources})
  weft_doctests(weft_narrow narrow/ narrow ${narrow_access})
endif()

include(cmake/weak.cmake)

# stress
file(GLOB stress_sources CONFIGURE_DEPENDS tests/stress/*.cpp)
foreach(source IN LISTS stress_sources)
  weft_stem(stem ${source})
  string(REPLACE "/" "_" target ${stem})
  weft_program(${target} tests ${target} ${source})
  target_include_directories(${target} PRIVATE src tests)
  weft_test(${stem} stress ${WEFT_TEST_LAUNCHER} $<TARGET_FILE:${target}>)
  weft_test(long/${stem} long ${WEFT_TEST_LAUNCHER} $<TARGET_FILE:${target}>)
  set(more 10)
  if(stem MATCHES "/(churn|teams)$") # the slowest do a third of it for each change
    set(more 30)
  endif()
  set_tests_properties(
    long/${stem} PROPERTIES TIMEOUT 36000 ENVIRONMENT "${WEFT_TEST_ENVIRONMENT};WEFT_STRESS=${more}")
endforeach()
# What outsiders found, each a program. Where code is instrumented, only at night: many small programs to compile.
file(GLOB found_sources CONFIGURE_DEPENDS tests/found/*.cpp)
set(found ${python} ${tests}/found.py --build ${PROJECT_BINARY_DIR})
add_custom_target(found)
foreach(source IN LISTS found_sources)
  get_filename_component(name ${source} NAME_WE)
  weft_program(found_${name} found ${name} ${source})
  target_include_directories(found_${name} PRIVATE tests)
  add_dependencies(found found_${name})
  if(WEFT_SANITIZE)
    set_target_properties(found_${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    weft_test(long/found/${name} long ${found} ${name} --host-only)
  else()
    weft_test(found/${name} found ${found} ${name})
    weft_test(long/found/${name} long ${found} ${name} --long)
  endif()
  set_tests_properties(long/found/${name} PROPERTIES TIMEOUT 36000)
endforeach()
weft_program(found_beside found/beside disturb tests/found/beside/disturb.cpp)
weft_program(found_broken found/broken broken tests/found/broken/broken.cpp)
target_include_directories(found_broken PRIVATE tests)
add_dependencies(found found_beside found_broken)
weft_test(found/self-test found ${found} --self-test)

# Programs for tests/tool/ to check and to simulate.
if(WEFT_APPS)
  file(GLOB check_sources CONFIGURE_DEPENDS tests/check/*.cpp)
  foreach(source IN LISTS check_sources)
    get_filename_component(name ${source} NAME_WE)
    weft_program(check_${name} tests check_${name} ${source})
  endforeach()
endif()
# tests/stress/refused.cpp stands between the library and the system.
target_link_options(stress_refused PRIVATE LINKER:--wrap=pthread_create,--wrap=pthread_setaffinity_np)
if(BUILD_SHARED_LIBS) # which this linker cannot reach into: it takes the library's objects, and then no library
  target_sources(stress_refused PRIVATE $<TARGET_OBJECTS:weft>)
  target_link_options(stress_refused PRIVATE LINKER:--as-needed)
  target_link_libraries(stress_refused PRIVATE PkgConfig::HWLOC SQLite::SQLite3 Boost::context Threads::Threads)
endif()

# Computers with several memory nodes, which QEMU makes; skipped where there is no QEMU or no kernel to boot.
if(WEFT_APPS AND CMAKE_BUILD_TYPE STREQUAL "Release")
  weft_program(numa_guest tests numa_guest tests/numa/guest.cpp)
  target_include_directories(numa_guest PRIVATE src)
  set(numa_boot ${python} ${tests}/numa/boot.py --guest $<TARGET_FILE:numa_guest> --nodes)
  weft_test(numa/4-nodes numa ${numa_boot} 4)
  weft_test(long/numa/8-nodes long ${numa_boot} 8)
endif()

find_package(OpenMP QUIET COMPONENTS CXX)
include(cmake/guests.cmake)
if(TARGET weft_omp)
  weft_omp_tests()
endif()
if(TARGET weft_ranks)
  weft_mpi_tests()
endif()

# faults: memory, threads and files that fail (tests/faults/README.md). Sanitizers define what this program does.
if(NOT WEFT_SANITIZE)
  file(GLOB fault_sources CONFIGURE_DEPENDS tests/faults/*.cpp)
  add_executable(weft_faults ${fault_sources})
  target_link_libraries(weft_faults PRIVATE weft::weft weft_strict Threads::Threads ${CMAKE_DL_LIBS})
  weft_test(faults/sample faults $<TARGET_FILE:weft_faults>)
  weft_test(faults/page faults $<TARGET_FILE:weft_faults> --check tests/faults/README.md)
  weft_test(long/faults long $<TARGET_FILE:weft_faults> --whole --at-once 2)
  add_executable(weft_refuse tests/faults/refuse/refuse.cpp)
  target_link_libraries(weft_refuse PRIVATE weft_strict)
  set(limits ${python} ${tests}/faults/limits.py --faults $<TARGET_FILE:weft_faults> --refuse
             $<TARGET_FILE:weft_refuse>)
  weft_test(faults/limits faults ${limits})
  weft_test(long/limits long ${limits} --whole)
  set_tests_properties(long/faults long/limits PROPERTIES TIMEOUT 36000)
endif()

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
  file(STRINGS ${source} parallel_pragmas REGEX "#pragma omp" LIMIT_COUNT 1)
  if(parallel_pragmas AND NOT OpenMP_CXX_FOUND)
    message(STATUS "no OpenMP: examples/${name} is neither built nor tested")
    continue()
  endif()
  if(source MATCHES "\\.cpp$")
    weft_program(example_${name} examples ${name} ${source})
  else()
    weft_program_in_c_or_fortran(example_${name} examples ${name} ${source})
  endif()
  if(parallel_pragmas)
    target_link_libraries(example_${name} PRIVATE OpenMP::OpenMP_CXX)
    set_target_properties(example_${name} PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
  endif()
  add_dependencies(examples example_${name})
  weft_test(golden/${name} golden ${python} ${tests}/golden.py ${PROJECT_BINARY_DIR} ${name})
endforeach()
include(cmake/originals.cmake)

# an older C++ is told so by every header
weft_test(headers/cpp17 compile_fail ${python} ${tests}/language.py --compiler ${CMAKE_CXX_COMPILER})

# weft.h is C and C++
set(c_header -Wall -Wextra -Wpedantic -Werror -fsyntax-only -include ${PROJECT_SOURCE_DIR}/include/weft.h /dev/null)
weft_test(c_header/c99 compile_fail ${CMAKE_C_COMPILER} -std=c99 -Wstrict-prototypes -x c ${c_header})
weft_test(c_header/cpp compile_fail ${CMAKE_CXX_COMPILER} -std=c++11 -Wold-style-cast -x c++ ${c_header})

# apps, bench and the tool
if(WEFT_APPS)
  file(GLOB_RECURSE apps_tests CONFIGURE_DEPENDS apps/*_test.cpp bench/*_test.cpp tools/*_test.cpp)
  add_executable(weft_apps_test ${cases_main} ${apps_tests})
  target_link_libraries(weft_apps_test PRIVATE weft_tool_parts weft_cases)
  weft_at_once(weft_apps_test HEADERS <algorithm> <memory> <string> <vector> <doctest/doctest.h> apps/app.hpp)
  weft_doctests(weft_apps_test "" apps ${apps_tests})
  set(matrix ${PROJECT_SOURCE_DIR}/apps/cholesky/data/bar.mtx)
  weft_test(tool/demo-matrix apps $<TARGET_FILE:weft_tool> run cholesky --matrix ${matrix})
  file(GLOB tool_scripts CONFIGURE_DEPENDS tests/tool/*_test.py)
  foreach(script IN LISTS tool_scripts)
    get_filename_component(name ${script} NAME_WE)
    weft_test(tool/${name} apps ${python} ${script} --weft $<TARGET_FILE:weft_tool>)
  endforeach()
  weft_test(long/killed_test long ${python} ${tests}/tool/killed_test.py --weft $<TARGET_FILE:weft_tool> --times 100)
  set(fuzz ${python} ${tests}/fuzz/tool_fuzz.py)
  weft_test(fuzz/tool apps ${fuzz} --weft $<TARGET_FILE:weft_tool> --runs 300)
  weft_test(fuzz/self-test apps ${fuzz} --self-test)
  weft_test(long/fuzz/tool long ${fuzz} --weft $<TARGET_FILE:weft_tool> --runs 100000 --seed 1000)
  set_tests_properties(long/fuzz/tool PROPERTIES TIMEOUT 36000)
  weft_test(long/report_timeline_test long ${python} ${tests}/tool/report_timeline_test.py
            --weft $<TARGET_FILE:weft_tool> --tasks 3000000)
  weft_test(long/coarse_table long ${python} ${tests}/tool/coarse_table.py --weft $<TARGET_FILE:weft_tool>
            --shapes $<TARGET_FILE:check_shapes>)
  weft_test(long/hwloc_files long ${python} ${tests}/tool/hwloc_files.py --weft $<TARGET_FILE:weft_tool>)
  file(GLOB predicted_sources CONFIGURE_DEPENDS tests/predicted/*.cpp)
  weft_program(predicted_programs tests predicted_programs ${predicted_sources})
  weft_test(long/predicted long ${python} ${tests}/predicted.py --weft $<TARGET_FILE:weft_tool>
            --programs $<TARGET_FILE:predicted_programs>)
  set_tests_properties(long/predicted PROPERTIES RUN_SERIAL ON)
  foreach(name IN LISTS weft_bench_systems)  # each right on every problem, in small
    weft_test(bench/system/${name} apps ${PROJECT_BINARY_DIR}/${weft_bench_dir}/${name} --check)
  endforeach()
endif()

if(WEFT_APPS)
  weft_test(bench/transfers cost $<TARGET_FILE:bench_transfers> --check)
  weft_test(bench/ablation apps ${python} ${PROJECT_SOURCE_DIR}/bench/ablation/ablate_test.py
            --program $<TARGET_FILE:bench_ablation>)
endif()

# what a task costs in instructions; the record is of the release build
if(WEFT_APPS AND CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT WEFT_SANITIZE)
  weft_test(instructions cost ${python} ${tests}/instructions.py --programs ${PROJECT_BINARY_DIR}/${weft_bench_dir}
            --compiler "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
  weft_test(instructions/self-test cost ${python} ${tests}/instructions.py --self-test)
endif()

# papers: what their claims tables say is reproduced. COST: where ctest has no times yet, what takes longest begins
# first, or it would run last and alone.
if(WEFT_APPS)
  file(GLOB paper_scripts CONFIGURE_DEPENDS papers/*/run.py)
  foreach(script IN LISTS paper_scripts)
    get_filename_component(name ${script} DIRECTORY)
    get_filename_component(name ${name} NAME)
    # What takes minutes has a short form for every day, and runs whole at night.
    file(STRINGS ${script} short REGEX "^usage: .*\\[--quick\\]" LIMIT_COUNT 1)
    set(command ${python} ${script} --weft $<TARGET_FILE:weft_tool>)
    if(short)
      weft_test(papers/${name} paper ${command} --quick)
      weft_test(long/papers/${name} long ${command})
      set_tests_properties(long/papers/${name} PROPERTIES TIMEOUT 36000)
    else()
      weft_test(papers/${name} paper ${command})
    endif()
    set_tests_properties(papers/${name} PROPERTIES COST 40)
  endforeach()
  set_tests_properties(tool/check_test tool/validate_test tool/calibrate_test stress/teams PROPERTIES COST 50)
  weft_test(long/papers/tao/learned long ${python} ${PROJECT_SOURCE_DIR}/papers/tao/learned.py
            --weft $<TARGET_FILE:weft_tool>)
endif()

# the programs in README.md and in the guide, and what must not compile: all with one precompiled header
set(user_flags "-std=c++20 -O1 -pthread -I${PROJECT_SOURCE_DIR}/include")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  string(APPEND user_flags " -Werror=invalid-pch") # else one that does not fit is read again as text, without a word
endif()
if(WEFT_SANITIZE)
  string(APPEND user_flags " -fsanitize=${WEFT_SANITIZE}")
endif()
set(shared ${PROJECT_BINARY_DIR}/precompiled)
set(user_compiler --compiler ${CMAKE_CXX_COMPILER} "--flags=${user_flags}")
set(precompile ${python} ${tests}/precompile.py ${user_compiler} --out ${shared})
set(page_library "$<TARGET_FILE:weft_lab> $<TARGET_FILE:weft> -Wl,-rpath,$<TARGET_FILE_DIR:weft>")
if(NOT BUILD_SHARED_LIBS)
  list(APPEND precompile --strip ${CMAKE_STRIP} --archive $<TARGET_FILE:weft>)
  set(page_library "$<TARGET_FILE:weft_lab> ${shared}/$<TARGET_FILE_NAME:weft>")
endif()
weft_test(precompiled "page;compile_fail" ${precompile})
set_tests_properties(precompiled PROPERTIES FIXTURES_SETUP precompiled)
list(APPEND user_compiler --precompiled ${shared}/precompiled.hpp)
function(weft_user_test name label)
  weft_test(${name} ${label} ${ARGN})
  set_tests_properties(${name} PROPERTIES FIXTURES_REQUIRED precompiled)
endfunction()

file(GLOB pages CONFIGURE_DEPENDS README.md docs/guide/*.md)
list(JOIN HWLOC_LINK_LIBRARIES " " page_libraries)
string(APPEND page_libraries " ${SQLite3_LIBRARIES}")
if(WEFT_GOLD)
  string(APPEND page_libraries " -fuse-ld=gold")
endif()
foreach(page IN LISTS pages)
  file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${page})
  string(REGEX REPLACE "(^docs/)|(\\.md$)" "" name ${name})
  weft_user_test(
    page/${name} page ${python} ${tests}/pages.py ${page} ${user_compiler}
    "--link=${page_library} ${page_libraries} $<TARGET_FILE:Boost::context>"
    --scratch ${PROJECT_BINARY_DIR}/pages)
endforeach()

file(GLOB fail_sources CONFIGURE_DEPENDS tests/compile_fail/*.cpp)
foreach(source IN LISTS fail_sources)
  weft_stem(stem ${source})
  weft_user_test(${stem} compile_fail ${python} ${tests}/compile_fail.py ${user_compiler} ${source})
endforeach()

# forks and loops as the sequential program, without the library
add_executable(weft_serial tests/serial/elision.cpp)
target_include_directories(weft_serial PRIVATE include)
target_compile_features(weft_serial PRIVATE cxx_std_20)
target_link_libraries(weft_serial PRIVATE weft_strict)
weft_test(serial/elision golden weft_serial)

include(cmake/house.cmake)

# What `ctest --preset quick` runs: cmake --build --preset quick.
add_custom_target(quick DEPENDS weft weft_unit weft_conformance weft_serial examples found)
if(TARGET originals)
  add_dependencies(quick originals)
endif()
# What an optimised build leaves out for each change: tests/all.py --long.
add_custom_target(night DEPENDS weft_unit weft_conformance)
if(TARGET weft_ranks_test)
  add_dependencies(quick weft_ranks_test)
  add_dependencies(night weft_ranks_test)
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    set_target_properties(weft_ranks_test PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endif()
