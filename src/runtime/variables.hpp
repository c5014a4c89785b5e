// The variables of the environment that are Weft's: WEFT_WORKERS and its like. An option that the program leaves at its
// default may come from one, and an error then names the variable, because that is what the user has to change. A
// variable that begins with WEFT_ and that nothing reads is said on stderr, once per process: it is a slip of the
// keyboard more often than not, and a run with 8 workers in place of 80 looks like any other.
#pragma once
#include <string>
#include <string_view>

namespace weft {

// The variable of an option: WEFT_WINDOW of "window", and WEFT_BODY of "model.body".
[[nodiscard]] std::string variable_of(std::string_view option);

// Its value, or nullptr if it is unset or empty. A program that runs with more rights than its caller, as set-uid ones
// do, has no variables: they name files to write and to read.
[[nodiscard]] const char* value_of_variable(std::string_view option);

// Says each variable of this process that begins with WEFT_ and is none of ours on stderr, with the nearest that is
// ours: one line, once per process.
void report_unknown_variables();

// Throws weft::error for a value that came from the environment. Uncaught, that ends the program in one line on stderr
// and status 2; any other exception ends it as before.
[[noreturn]] void refuse_variable(const std::string& why);

}  // namespace weft
