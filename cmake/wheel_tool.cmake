# The tool for the Python wheel: the same objects without the papers' programs and OpenBLAS, and with SQLite and
# Boost.Context from their archives. Only hwloc is shared: auditwheel packs it.
add_executable(weft_wheel_tool EXCLUDE_FROM_ALL tools/weft/main.cpp python/tool/no_programs.cpp apps/progress.cpp)
target_include_directories(weft_wheel_tool PRIVATE ${PROJECT_SOURCE_DIR} include)
target_compile_features(weft_wheel_tool PRIVATE cxx_std_20)
add_dependencies(weft_wheel_tool weft_tool_parts weft_bench weft)
target_link_libraries(
  weft_wheel_tool PRIVATE weft_strict $<TARGET_FILE:weft_tool_parts> $<TARGET_FILE:weft_bench> $<TARGET_FILE:weft>
                          libsqlite3.a libboost_context.a hwloc m pthread ${CMAKE_DL_LIBS})
target_link_options(weft_wheel_tool PRIVATE -Wl,--gc-sections -Wl,-s -static-libstdc++ -static-libgcc)
set_target_properties(weft_wheel_tool PROPERTIES OUTPUT_NAME weft
                                                 RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/wheel)
