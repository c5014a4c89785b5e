// The first thing that every header includes, so that this is the first thing that a compiler says of an older C++.
#pragma once
#if __cplusplus < 202002L
#error "Weft needs C++20: compile with -std=c++20"
#endif
