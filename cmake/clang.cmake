# The second compiler of `make test`: clang 16, with which warnings are known, or what the distribution has.
find_program(WEFT_CLANG_CXX NAMES clang++-16 clang++ REQUIRED)
find_program(WEFT_CLANG_C NAMES clang-16 clang REQUIRED)
set(CMAKE_CXX_COMPILER ${WEFT_CLANG_CXX})
set(CMAKE_C_COMPILER ${WEFT_CLANG_C})
