# Peers in Rust for cmake/bench.cmake, built by cargo where their crate lies on this machine: packaged by Debian, or
# fetched before by cmake/crates.sh. Nothing here uses the network.
find_program(WEFT_CARGO cargo DOC "cargo, for the peers of weft bench that are written in Rust")
if(WEFT_CARGO)
  get_filename_component(cargo_dir ${WEFT_CARGO} DIRECTORY)
  find_program(WEFT_RUSTC rustc HINTS ${cargo_dir} DOC "rustc, as cargo calls it")
endif()
set(weft_rust_version "")
if(WEFT_RUSTC)
  execute_process(COMMAND ${WEFT_RUSTC} --version OUTPUT_VARIABLE rustc_says ERROR_QUIET)
  string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" weft_rust_version "${rustc_says}")
endif()

# The program of bench/rust/<name>, if the folder `crates` has its crate and rustc is new enough.
function(weft_rust_system name crate rust_min crates)
  file(GLOB manifest ${crates}/${crate}/Cargo.toml ${crates}/${crate}-[0-9]*/Cargo.toml)
  if(NOT manifest OR NOT weft_rust_version VERSION_GREATER_EQUAL rust_min)
    return()
  endif()
  list(GET manifest 0 manifest)
  file(STRINGS ${manifest} version REGEX "^version = " LIMIT_COUNT 1)
  string(REGEX REPLACE "[^0-9.]" "" version "${version}")
  set(program ${PROJECT_BINARY_DIR}/${weft_bench_dir}/${name})
  set(build ${PROJECT_BINARY_DIR}/rust/${name})
  set(from ${PROJECT_SOURCE_DIR}/bench/rust)
  file(GLOB sources CONFIGURE_DEPENDS ${from}/*.rs ${from}/${name}/*)
  add_custom_command(
    OUTPUT ${program}
    # A copy, since cargo writes a lock file beside the manifest.
    COMMAND ${CMAKE_COMMAND} -E copy_directory ${from} ${build}/source
    COMMAND
      ${CMAKE_COMMAND} -E env "WEFT_PEER_VERSION=${crate} ${version}, rustc ${weft_rust_version}" ${WEFT_CARGO} build
      --release --offline --quiet --manifest-path ${build}/source/${name}/Cargo.toml --target-dir ${build}/target
      --config "source.crates-io.replace-with=\"here\"" --config "source.here.directory=\"${crates}\""
    COMMAND ${CMAKE_COMMAND} -E copy ${build}/target/release/${name} ${program}
    DEPENDS ${sources}
    COMMENT "Building bench/systems/${name} with ${WEFT_CARGO}"
    VERBATIM)
  add_custom_target(bench_system_${name} ALL DEPENDS ${program})
  add_dependencies(bench_systems bench_system_${name})
  if(WEFT_INSTALL)
    install(PROGRAMS ${program} DESTINATION ${weft_bench_dir_installed} COMPONENT bench)
  endif()
  set(weft_bench_systems ${weft_bench_systems} ${name} PARENT_SCOPE)
endfunction()

weft_rust_system(rayon rayon-core 1.63 /usr/share/cargo/registry)
weft_rust_system(chili chili 1.79 ${PROJECT_BINARY_DIR}/crates)
