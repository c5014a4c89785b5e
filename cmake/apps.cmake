# The papers' programs (apps/, on the public API), and the tool that runs them and the benchmark (cmake/bench.cmake).
#
# OpenBLAS must be the pthread build: Debian's serial build is not thread-safe, and which of the two the plain name
# gives is up to update-alternatives. So its own folder is asked first, and goes into the rpath. LAPACK's Fortran
# functions are in it too; only their declarations (lapack.h) come from elsewhere.
set(ENV{PKG_CONFIG_PATH} "/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-pthread/pkgconfig:$ENV{PKG_CONFIG_PATH}")
pkg_check_modules(OPENBLAS REQUIRED IMPORTED_TARGET openblas)
find_path(LAPACK_INCLUDE_DIR lapack.h REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_path(PROTOZERO_INCLUDE_DIR protozero/pbf_writer.hpp REQUIRED)
find_package(BZip2 QUIET)  # without it `weft run compress` says so

# Static library of all sources of a folder. Includes are written from the repository root or from beside the file.
function(weft_part name folder)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$|tools/weft/main\\.cpp$")
  add_library(${name} STATIC ${sources})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC weft::lab ${ARGN} PRIVATE weft_strict)
endfunction()

weft_part(weft_apps apps PkgConfig::OPENBLAS)
target_include_directories(weft_apps SYSTEM PUBLIC ${LAPACK_INCLUDE_DIR})
target_compile_definitions(
  weft_apps
  PUBLIC WEFT_DATA_DIR="${PROJECT_SOURCE_DIR}/apps/cholesky/data"  # in the build tree
         WEFT_DATA_DIR_INSTALLED="../${CMAKE_INSTALL_DATADIR}/weft")  # from the folder of the installed tool
get_target_property(app_sources weft_apps SOURCES)
set(alone "")
foreach(source IN LISTS app_sources)  # an app has its parameters, all by that name
  file(STRINGS ${source} parameters REGEX "^struct parameters" LIMIT_COUNT 1)
  if(parameters)
    file(RELATIVE_PATH source ${PROJECT_SOURCE_DIR} ${source})
    list(APPEND alone ${source})
  endif()
endforeach()
weft_at_once(
  weft_apps
  ALONE
  ${alone}
  HEADERS
  <algorithm>
  <cmath>
  <functional>
  <memory>
  <string>
  <vector>
  <weft/weft.hpp>
  apps/app.hpp)
if(BZIP2_FOUND)
  target_link_libraries(weft_apps PRIVATE BZip2::BZip2)
  target_compile_definitions(weft_apps PRIVATE WEFT_BZIP2)
endif()
include(cmake/bench.cmake)
add_library(weft_bench STATIC bench/problem.cpp bench/recursion.cpp bench/measure.cpp bench/systems.cpp)  # no system
target_include_directories(weft_bench PUBLIC ${PROJECT_SOURCE_DIR})
target_compile_features(weft_bench PUBLIC cxx_std_20)
target_link_libraries(weft_bench PRIVATE weft_strict)
target_compile_definitions(
  weft_bench PRIVATE WEFT_BENCH_DIR_INSTALLED="../${weft_bench_dir_installed}")  # from the folder of the installed tool
set(weft_tool_uses weft_apps weft_bench CLI11::CLI11 nlohmann_json::nlohmann_json SQLite::SQLite3 PkgConfig::HWLOC)
weft_part(weft_tool_parts tools/weft ${weft_tool_uses})
target_include_directories(weft_tool_parts PUBLIC src)  # described machines: what they are, and their files
target_include_directories(weft_tool_parts SYSTEM PRIVATE ${PROTOZERO_INCLUDE_DIR})

# Commands declare options and write answers: a second of compiling at -O3 saves no user a microsecond. So in the build
# that users wait for they have -O1. Not so what measures, and what goes through traces of millions of tasks.
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  get_target_property(tool_sources weft_tool_parts SOURCES)
  set(hot_sources ${tool_sources})
  list(FILTER hot_sources INCLUDE
       REGEX "/(calibrate/(busy|kernel|lines|memory|probe|programs)|sim/(replay|script|grain)|trace/[a-z]+)\\.cpp$|\
/report/(analysis|graph|pieces|columns|moments)\\.cpp$")
  list(REMOVE_ITEM tool_sources ${hot_sources})
  set_target_properties(weft_tool_parts PROPERTIES SOURCES "${tool_sources}")
  target_compile_options(weft_tool_parts PRIVATE -O1)
  add_library(weft_tool_hot OBJECT ${hot_sources})
  target_link_libraries(weft_tool_hot PRIVATE ${weft_tool_uses} weft_strict)
  target_include_directories(weft_tool_hot PRIVATE ${PROJECT_SOURCE_DIR} src)
  target_include_directories(weft_tool_hot SYSTEM PRIVATE ${PROTOZERO_INCLUDE_DIR})
  target_sources(weft_tool_parts PRIVATE $<TARGET_OBJECTS:weft_tool_hot>)
  weft_at_once(weft_tool_hot HEADERS <algorithm> <functional> <map> <memory> <string> <vector> ALONE
               tools/weft/calibrate/lines.cpp tools/weft/sim/script.cpp)
endif()
weft_at_once(
  weft_tool_parts
  ALONE
  tools/weft/run.cpp
  tools/weft/report/gil.cpp
  tools/weft/report/teams.cpp
  tools/weft/report/text.cpp
  HEADERS
  <algorithm>
  <filesystem>
  <functional>
  <map>
  <memory>
  <string>
  <vector>
  tools/weft/command.hpp)

# The pages of `weft report` and `weft whatif`, from the files beside their sources.
foreach(room IN ITEMS report sim)
  file(GLOB page_files CONFIGURE_DEPENDS tools/weft/${room}/*.html tools/weft/${room}/*.css tools/weft/${room}/*.js)
  set(page_source ${PROJECT_BINARY_DIR}/generated/${room}_assets.cpp)
  add_custom_command(
    OUTPUT ${page_source}
    COMMAND
      ${CMAKE_COMMAND} -DOUT=${page_source} -DHEADER=tools/weft/${room}/assets.hpp
      -DNAMESPACE=weft::tool::${room}::assets "-DFILES=${page_files}" -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${page_files} cmake/embed.cmake
    VERBATIM)
  target_sources(weft_tool_parts PRIVATE ${page_source})
endforeach()
set_source_files_properties(  # from the folder of the installed tool
  tools/weft/openmp.cpp PROPERTIES COMPILE_DEFINITIONS
                                   WEFT_OMP_INSTALLED="../${CMAKE_INSTALL_LIBDIR}/weft/libweft-omp.so")
set(compiler "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
target_compile_definitions(
  weft_tool_parts PUBLIC WEFT_COMPILER="${compiler}" WEFT_BUILD_TYPE="$<CONFIG>")

add_executable(weft_tool tools/weft/main.cpp)
target_link_libraries(weft_tool PRIVATE weft_tool_parts weft_strict)
include(cmake/wheel_tool.cmake)
# `weft bench` shall say something at once; the peers that need a package come with the target bench_systems.
# Nobody waits for any in `make demo`.
add_custom_target(tool DEPENDS weft_tool bench_system_serial bench_system_weft)
if(TARGET weft_omp)
  add_dependencies(tool weft_omp)
endif()
if(TARGET bench_system_libgomp)  # comes with the compiler
  add_dependencies(tool bench_system_libgomp)
endif()
set_target_properties(
  weft_tool PROPERTIES OUTPUT_NAME weft RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
                       INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
if(WEFT_INSTALL)
  install(TARGETS weft_tool COMPONENT tool)
  install(DIRECTORY apps/cholesky/data/ DESTINATION ${CMAKE_INSTALL_DATADIR}/weft COMPONENT tool)
endif()
