// One block as bzip2 has it: the Burrows-Wheeler transform, move to front, and Huffman's code, from libbz2. Packed
// blocks in a row are a file that bunzip2 reads.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace weft::apps::pipeline {

[[nodiscard]] bool has_bzip2() noexcept;  // whether libbz2 was there when this was built

// Errors, of both: weft::error without libbz2, std::bad_alloc. No more than 1 GiB at a time.
[[nodiscard]] std::vector<char> pack(std::span<const char> bytes);
// Errors: weft::error if that is not what `size` bytes were packed to.
[[nodiscard]] std::vector<char> unpack(std::span<const char> packed, std::size_t size);
// The bytes of packed blocks in a row. Errors: weft::error if they are not such, or more bytes than `most`.
[[nodiscard]] std::vector<char> unpack_all(std::span<const char> packed, std::size_t most);

}  // namespace weft::apps::pipeline
