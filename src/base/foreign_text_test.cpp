// A text that may be gone: whole, cut, at the end of what is mapped, and not there at all.
#include "base/foreign_text.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string>

namespace weft::base {
namespace {

[[nodiscard]] std::string copied(const char* from, std::size_t bytes = 16) {
  std::string room(bytes, 'x');
  copy_foreign_text(room.data(), bytes, from);
  return room.c_str();
}

}  // namespace

TEST_CASE("foreign text: whole, cut to the room, and none") {
  CHECK(copied("gemm\0and what lies behind it") == "gemm");
  CHECK(copied("0123456789abcdefghijk") == "0123456789abcde");
  CHECK(copied("gemm\0and what lies behind it", 1).empty());
  CHECK(copied(nullptr).empty());
}

TEST_CASE("foreign text: memory that ends behind the text, or is not there") {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const two = mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(two != MAP_FAILED);
  char* const last = static_cast<char*>(two) + page - 5;
  std::memcpy(last, "gemm", 5);
  REQUIRE(munmap(static_cast<char*>(two) + page, page) == 0);
  CHECK(copied(last) == "gemm");
  CHECK(copied(last + 1) == "emm");
  CHECK(copied(static_cast<char*>(two) + page).empty());
  CHECK(copied(reinterpret_cast<const char*>(std::uintptr_t{8})).empty());
  REQUIRE(munmap(two, page) == 0);
}

}  // namespace weft::base
