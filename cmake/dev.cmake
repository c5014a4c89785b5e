# Warnings and sanitizers for everything below, through two interface targets.
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set_target_properties(weft PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON  # each public header compiles alone
                                      EXPORT_COMPILE_COMMANDS ON)

add_library(weft_strict INTERFACE)
target_compile_options(
  weft_strict
  INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Wold-style-cast
            -Woverloaded-virtual -Wextra-semi -Wcast-align -Wundef
            $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond -Wlogical-op -Wno-restrict>  # -Wrestrict: g++ bug 105651
            $<$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wshadow>  # in these a neighbour's name would be one
            -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)

# Errors only where we know the compiler: a newer one may warn about what this one does not.
option(WEFT_WERROR "Warnings are errors, if the compiler is one that is known to have none" ON)
if(WEFT_WERROR AND "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}" MATCHES "^(GNU 12|Clang 16)\\.")
  if(NOT WEFT_SANITIZE OR CMAKE_CXX_COMPILER_ID STREQUAL "Clang")  # instrumented code makes g++ warn of what is not
    target_compile_options(weft_strict INTERFACE -Werror)
  endif()
endif()

# A debug build links some twenty programs after each change; gold takes less than half of the default linker's time.
find_program(WEFT_GOLD ld.gold)
if(CMAKE_BUILD_TYPE STREQUAL "Debug" AND NOT WEFT_SANITIZE AND WEFT_GOLD)
  target_link_options(weft_strict INTERFACE -fuse-ld=gold)
endif()

set(WEFT_TEST_LAUNCHER "")  # put before every test program
# hwloc itself loses objects of some machines' topologies when it reads back what it has exported.
set(WEFT_TEST_ENVIRONMENT UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS=halt_on_error=1
                          LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/leaks.supp)
set(WEFT_TIMEOUT_FACTOR 1)
if(WEFT_SANITIZE)
  set(WEFT_TIMEOUT_FACTOR 5)
  set(flags -fsanitize=${WEFT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND WEFT_SANITIZE MATCHES "address")
    # clang moves variables whose address is taken to the heap, to find uses after a return; what a fiber finds there
    # after a switch is not what it left. g++ does so only when asked.
    list(APPEND flags -fsanitize-address-use-after-return=never)
    find_program(WEFT_SYMBOLIZER NAMES llvm-symbolizer-16 llvm-symbolizer)
    if(WEFT_SYMBOLIZER)
      list(APPEND WEFT_TEST_ENVIRONMENT ASAN_SYMBOLIZER_PATH=${WEFT_SYMBOLIZER})
    endif()
  endif()
  target_compile_options(weft_strict INTERFACE ${flags})
  target_link_options(weft_strict INTERFACE ${flags})

  # Not every machine lets an instrumented program start. ThreadSanitizer of g++ 12 cannot live with much address
  # randomisation (vm.mmap_rnd_bits > 28): then tests run under setarch -R. The leak check of AddressSanitizer needs
  # /proc and ptrace, which some containers lack: then it is left out.
  set(probe ${PROJECT_BINARY_DIR}/sanitizer_probe)
  file(WRITE ${probe}.cpp "int main() {}\n")
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} ${flags} ${probe}.cpp -o ${probe} COMMAND_ERROR_IS_FATAL ANY)
  foreach(i RANGE 20)  # the failure is a matter of luck
    execute_process(COMMAND ${probe} RESULT_VARIABLE rc OUTPUT_QUIET ERROR_QUIET)
    if(rc AND WEFT_SANITIZE MATCHES "thread")
      set(WEFT_TEST_LAUNCHER setarch -R)
    elseif(rc)
      message(WARNING "AddressSanitizer cannot look for leaks on this machine")
      list(APPEND WEFT_TEST_ENVIRONMENT ASAN_OPTIONS=detect_leaks=0)
    endif()
    if(rc)
      break()
    endif()
  endforeach()
endif()

target_link_libraries(weft PRIVATE $<BUILD_INTERFACE:weft_strict>)
target_link_libraries(weft_lab PRIVATE $<BUILD_INTERFACE:weft_strict>)

# Most of what a file takes to compile is the headers that all of them include, and the templates in these. Where one
# builds everything, and waits for it, headers are compiled once, and the files of a folder as one. Not in `dev`, nor
# where Weft is built to be installed (tests/install): there a missing #include and a shadowed name show. The test
# long/includes looks at each file for them. Files named as ALONE use a name otherwise than their neighbours, or take
# long enough by themselves.
function(weft_at_once target)
  cmake_parse_arguments(arg "" "" "HEADERS;ALONE" ${ARGN})
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT WEFT_SANITIZE)
    return()
  endif()
  target_precompile_headers(${target} PRIVATE ${arg_HEADERS})
  # g++ 12 takes the code of std::string, inlined from such headers, for an overflow: bug 105329.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow -Wno-array-bounds>)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    string(REPLACE "${PROJECT_SOURCE_DIR}/" "" path "${source}")
    if(path MATCHES "^(src|apps|tools)/.*\\.cpp$" AND NOT path MATCHES "_test\\.cpp$" AND NOT path IN_LIST arg_ALONE)
      get_filename_component(folder ${path} DIRECTORY)
      string(MAKE_C_IDENTIFIER ${folder} group)
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
set(weft_library_headers
    <algorithm>
    <cstdint>
    <cstring>
    <functional>
    <map>
    <memory>
    <mutex>
    <string>
    <utility>
    <vector>)
set(weft_library_alone
    src/access/memory_placement.cpp
    src/access/reduction.cpp
    src/runtime/host_engine.cpp
    src/runtime/virtual_engine.cpp)
weft_at_once(weft HEADERS ${weft_library_headers} ALONE ${weft_library_alone})
weft_at_once(weft_lab HEADERS ${weft_library_headers} ALONE src/lab/swarm/memory.cpp src/lab/swarm/one_core.cpp)

# A change of the scheduler waits for the two engines: -Og takes a fifth less to compile than -O1.
if(CMAKE_BUILD_TYPE STREQUAL "Debug" AND NOT WEFT_SANITIZE)
  set_source_files_properties(src/runtime/host_engine.cpp src/runtime/virtual_engine.cpp PROPERTIES COMPILE_OPTIONS -Og)
endif()
