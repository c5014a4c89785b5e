// Members of values that a JSON file has, with an error that says where they are.
#pragma once
#include <optional>
#include <string>

#include "source.hpp"
#include "tools/weft/json_sieve.hpp"

namespace weft::tool::foreign {

// "" if there is none, or no text. A whole number is its digits: some programs write ids so.
[[nodiscard]] std::string text_of(const json& object, std::string_view key);
[[nodiscard]] std::string text_of(const json& value);
// The first of these that is there, as a number; of a text, what number it is. Errors: weft::error if it is none.
[[nodiscard]] std::optional<double> number_of(const json& object, std::initializer_list<std::string_view> keys,
                                              const source& from, std::uint64_t place);
[[nodiscard]] std::optional<double> number_of(const json& value);

// Sifts the whole text; what is no JSON is an error of the file. Errors: weft::error.
void sift(const source& from, json_sieve& into);

}  // namespace weft::tool::foreign
