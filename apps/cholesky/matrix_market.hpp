// Reads a symmetric matrix from a Matrix Market file: the text format of the public matrix collections.
//
//   %%MatrixMarket matrix coordinate real symmetric
//   % comments
//   3 3 4              rows, columns, entries
//   1 1 2.0            row, column (from 1), value; what is absent is zero
//   ...
//
// Accepted: coordinate and array, real and integer, symmetric and general. A general file must hold a matrix that is
// symmetric to the last bit; one that is not is an error, not an average. Everything a file can have wrong is reported
// with its line, because the file is usually made by another program and somebody has to find the place.
#pragma once
#include <string>
#include <string_view>

#include "matrix.hpp"

namespace weft::apps::cholesky {

// Errors: weft::error "FILE:LINE: what is wrong and what is expected", or "FILE: ..." if the file cannot be read.
[[nodiscard]] matrix read_matrix_market(const std::string& path);

// The same for text in memory; `name` stands for the file in messages.
[[nodiscard]] matrix parse_matrix_market(std::string_view text, const std::string& name);

}  // namespace weft::apps::cholesky
