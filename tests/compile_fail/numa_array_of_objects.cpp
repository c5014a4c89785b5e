// The elements of a numa_array are bytes on pages: nothing is constructed, nothing destroyed.
// expect in 8: its elements must be trivially copyable and trivially destructible
#include <string>
#include <weft/weft.hpp>

int main() {
#ifdef BAD
  const weft::numa_array<std::string> a(10);
#else
  const weft::numa_array<double> a(10);
#endif
  return static_cast<int>(a.size()) - 10;
}
