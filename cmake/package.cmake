# find_package(weft) and pkg-config. Both are relocatable: no path of the build machine is written.
include(CMakePackageConfigHelpers)
set(weft_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/weft)
set(weft_pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# What a program must link itself when libweft is an archive. These stand in Libs, not in Libs.private, so that the
# plain `pkg-config --libs weft` works; and hwloc as a library, not as Requires, because `--static` would then ask for
# hwloc's own private libraries (udev), which Debian's libhwloc-dev does not bring.
get_target_property(weft_type weft TYPE)
if(weft_type STREQUAL "STATIC_LIBRARY")
  set(weft_is_static ON)
  list(JOIN HWLOC_LDFLAGS " " weft_pc_libs)
  string(APPEND weft_pc_libs " -lsqlite3 -lboost_context -pthread")
else()
  set(weft_is_static OFF)
  set(weft_pc_libs "")
endif()

# Components, so that a package takes what it is for: runtime, development, tool, bench (packaging/README.md).
install(FILES ${machine_files} DESTINATION ${CMAKE_INSTALL_DATADIR}/weft/machines COMPONENT runtime)
install(TARGETS weft EXPORT weft LIBRARY COMPONENT runtime NAMELINK_COMPONENT development
                                 ARCHIVE COMPONENT development FILE_SET HEADERS COMPONENT development)
install(TARGETS weft_lab EXPORT weft LIBRARY COMPONENT runtime NAMELINK_COMPONENT development
                                     ARCHIVE COMPONENT development)
install(EXPORT weft NAMESPACE weft:: FILE weft-targets.cmake DESTINATION ${weft_cmake_dir} COMPONENT development)

configure_package_config_file(cmake/weft-config.cmake.in weft-config.cmake INSTALL_DESTINATION ${weft_cmake_dir})
write_basic_package_version_file(weft-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/weft-config.cmake ${PROJECT_BINARY_DIR}/weft-config-version.cmake
        DESTINATION ${weft_cmake_dir} COMPONENT development)

file(RELATIVE_PATH weft_pc_to_prefix /prefix/${weft_pc_dir} /prefix)
configure_file(cmake/weft.pc.in weft.pc @ONLY)
configure_file(cmake/weft-lab.pc.in weft-lab.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/weft.pc ${PROJECT_BINARY_DIR}/weft-lab.pc DESTINATION ${weft_pc_dir}
        COMPONENT development)
