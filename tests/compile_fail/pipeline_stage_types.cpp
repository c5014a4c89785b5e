// A stage of a pipeline takes what the one before it returns.
// expect: a stage of a pipeline takes what the one before it returns
#include <optional>
#include <string>

#include <weft/weft.hpp>

int main() {
  const auto none = [] { return std::optional<int>(); };
#ifdef BAD
  weft::pipeline(weft::serial(none), weft::serial([](const std::string&) {}));
#else
  weft::pipeline(weft::serial(none), weft::serial([](int) {}));
#endif
}
