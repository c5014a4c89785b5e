// What a program of this folder finds, it prints: the same text by libgomp and by Weft. A check that fails ends it.
#pragma once
#include <cstdio>
#include <cstdlib>

#define CHECK(x)                                                                                                       \
  do {                                                                                                                 \
    if (!(x)) {                                                                                                        \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #x);                                             \
      std::exit(1);                                                                                                    \
    }                                                                                                                  \
  } while (false)
