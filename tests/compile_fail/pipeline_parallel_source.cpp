// The first stage of a pipeline makes the items one after the other.
// expect: the first stage of a pipeline makes the items, and is serial
#include <optional>

#include <weft/weft.hpp>

int main() {
  const auto none = [] { return std::optional<int>(); };
#ifdef BAD
  weft::pipeline(weft::parallel(none), weft::serial([](int) {}));
#else
  weft::pipeline(weft::serial(none), weft::serial([](int) {}));
#endif
}
