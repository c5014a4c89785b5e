# The machine with weak memory (tests/weak/README.md): its own tests, the models once more on it, and the whole engine.
# All of it is compiled with other words for what the public headers do by builtins, so it has its own objects of the
# library. Once is enough: where most tests are.
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT WEFT_SANITIZE)
  set(weak ${tests}/weak)
  set(weak_machine ${weak}/machine.cpp ${weak}/memory.cpp ${weak}/order_of_all.cpp ${weak}/sites.cpp
                   ${weak}/whole/engine.cpp)
  set(weak_library ${weft_sources})
  list(FILTER weak_library EXCLUDE REGEX "/src/runtime/[a-z]+_engine\\.cpp")
  file(GLOB_RECURSE weak_models CONFIGURE_DEPENDS src/*_model_test.cpp)
  file(GLOB weak_sides CONFIGURE_DEPENDS ${weak}/sides/*.cpp)
  set(weak_whole ${weak}/whole/composed.cpp ${weak}/whole/fronts.cpp ${weak}/whole/rare.cpp)
  add_library(weft_weak_parts STATIC ${weak_library} ${machines_source} ${weak_machine})
  add_executable(weft_weak ${cases_main} ${weak}/axioms.cpp ${weak}/litmus.cpp ${weak_sides} ${weak_models})
  add_executable(weft_weak_whole ${cases_main} ${weak_whole})
  foreach(target weft_weak_parts weft_weak weft_weak_whole)
    target_compile_definitions(${target} PRIVATE WEFT_CELL_WORDS="${weak}/words.hpp")
    target_compile_features(${target} PRIVATE cxx_std_20)
    target_compile_options(${target} PRIVATE -O1 -UNDEBUG -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
    target_include_directories(${target} PRIVATE include src tests)
    target_include_directories(${target} SYSTEM PRIVATE ${TOMLPLUSPLUS_INCLUDE_DIR})
    target_link_libraries(${target} PRIVATE PkgConfig::HWLOC SQLite::SQLite3 Boost::context Threads::Threads
                                            doctest::doctest weft_strict)
  endforeach()
  foreach(target weft_weak weft_weak_whole)
    target_link_libraries(${target} PRIVATE weft_weak_parts weft_cases)
    # A mutex is a word of the machine's, too (tests/weak/whole/engine.cpp).
    target_link_options(${target} PRIVATE LINKER:--wrap=pthread_mutex_lock,--wrap=pthread_mutex_trylock
                        LINKER:--wrap=pthread_mutex_unlock)
  endforeach()
  weft_doctests(weft_weak "" weak ${weak}/litmus.cpp ${weak_sides})
  weft_doctests(weft_weak_whole "" weak ${weak_whole})
  # These find some of their planted flaws in one order of thousands, and would need more of them here.
  set(weak_sound ${weak_models})
  list(FILTER weak_sound INCLUDE REGEX "/(deque|window)_model_test\\.cpp$")
  list(FILTER weak_models EXCLUDE REGEX "/(deque|window)_model_test\\.cpp$")
  weft_doctests(weft_weak weak/ weak ${weak_models})
  foreach(source IN LISTS weak_sound)
    weft_stem(stem ${source})
    weft_test(weak/${stem} weak $<TARGET_FILE:weft_weak> --source-file=*/${stem}_test.cpp
              "--test-case-exclude=*must fail*")
  endforeach()
  # The table of orders against the code, and some of its rows run again; all of them at night.
  set(orders ${python} ${weak}/orders.py --weak $<TARGET_FILE:weft_weak>)
  weft_test(weak/orders weak ${orders} --sample 5)
  weft_test(long/weak/orders long ${orders} --sample 100000)
  weft_test(long/weak/whole long $<TARGET_FILE:weft_weak_whole>)
  set_tests_properties(long/weak/orders PROPERTIES TIMEOUT 36000)
  set_tests_properties(long/weak/whole PROPERTIES TIMEOUT 36000
                                                  ENVIRONMENT "${WEFT_TEST_ENVIRONMENT};WEFT_TEST_SEEDS=100000")
endif()
