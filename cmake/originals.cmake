# What the programs of examples/from-* come from, for other libraries: built where the library is installed
# (cmake/setup.sh test, bench), into build/<preset>/examples/originals, and run beside them by tests/originals.py.
# Taskflow is in no package of Debian 12: -DWEFT_TASKFLOW=FOLDER says where its headers are.
if(WEFT_SANITIZE) # which do not see how code that is not instrumented synchronises
  return()
endif()
add_custom_target(originals)

function(weft_original name)
  set(target original_${name})
  add_executable(${target} examples/from-${name}/original.cpp)
  target_link_libraries(${target} PRIVATE ${ARGN} Threads::Threads weft_strict)
  target_compile_features(${target} PRIVATE cxx_std_20)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME from-${name}
                                             RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples/originals)
  add_dependencies(originals ${target})
endfunction()

weft_original(std-async)
weft_original(queue)
if(OpenMP_CXX_FOUND)
  weft_original(openmp OpenMP::OpenMP_CXX)
endif()
find_package(TBB QUIET)
if(TBB_FOUND)
  weft_original(onetbb TBB::tbb)
endif()
find_path(WEFT_TASKFLOW taskflow/taskflow.hpp DOC "the folder of Taskflow's headers, for an original of the examples")
if(WEFT_TASKFLOW)
  weft_original(taskflow)
  target_include_directories(original_taskflow SYSTEM PRIVATE ${WEFT_TASKFLOW})
endif()

# By cargo, as the peers of `weft bench` in Rust (cmake/bench_rust.cmake), from the crates that Debian packages.
set(crates /usr/share/cargo/registry)
file(GLOB rayon ${crates}/rayon-[0-9]*/Cargo.toml)
if(rayon AND WEFT_CARGO AND weft_rust_version VERSION_GREATER_EQUAL 1.63)
  set(program ${PROJECT_BINARY_DIR}/examples/originals/from-rayon)
  set(build ${PROJECT_BINARY_DIR}/rust/from-rayon)
  set(from ${PROJECT_SOURCE_DIR}/examples/from-rayon/original)
  add_custom_command(
    OUTPUT ${program}
    COMMAND ${CMAKE_COMMAND} -E copy_directory ${from} ${build}/source # cargo writes a lock file beside the manifest
    COMMAND
      ${WEFT_CARGO} build --release --offline --quiet --manifest-path ${build}/source/Cargo.toml --target-dir
      ${build}/target --config "source.crates-io.replace-with=\"here\"" --config "source.here.directory=\"${crates}\""
    COMMAND ${CMAKE_COMMAND} -E copy ${build}/target/release/from-rayon-original ${program}
    DEPENDS ${from}/main.rs ${from}/Cargo.toml
    COMMENT "Building examples/originals/from-rayon with ${WEFT_CARGO}"
    VERBATIM)
  add_custom_target(original_rayon ALL DEPENDS ${program})
  add_dependencies(originals original_rayon)
endif()
weft_test(originals golden ${python} ${tests}/originals.py --build ${PROJECT_BINARY_DIR})
weft_test(originals/self-test tidy ${python} ${tests}/originals.py --self-test)
