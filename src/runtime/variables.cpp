#include "runtime/variables.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <set>
#include <vector>

#include "base/near_name.hpp"
#include "base/printable.hpp"
#include "weft/error.hpp"

namespace weft {

namespace {

constexpr std::string_view prefix = "WEFT_";

// Without the prefix: with it any two would be near each other.
const std::vector<std::string>& known() {
  static const std::vector<std::string> names{
      "WORKERS", "MACHINE", "POLICY",    "SEED",      "SCHEDULE",  "MODE",     "BODY",   "BODY_SCALE", "CORE",
      "WINDOW",  "CHANGE",  "SEARCH_US", "STACK_KIB", "CREATION",  "CREATOR",  "PAUSED", "ORDERED",    "SWARM",
      "PIN",     "TRACE",   "TRACE_MIB", "COUNTERS",  "ORDER_LOG", "STUCK_MS", "RULES",  "TOP"};
  return names;
}

// What a variable is to blame for. The user who set it is not who wrote the program, and programs seldom catch what is
// wrong with their environment: uncaught, it ends the program with the one line and status 2, and not in a core dump.
struct bad_variable : error {
  using error::error;
};
std::terminate_handler other_end = nullptr;

[[noreturn]] void end_in_one_line() {
  if (const std::exception_ptr thrown = std::current_exception()) {
    try {
      std::rethrow_exception(thrown);
    } catch (const bad_variable& why) {
      std::fflush(stdout);
      std::fprintf(stderr, "%s\n", base::printable(why.what()).c_str());
      std::_Exit(2);
    } catch (...) {  // whatever else it is, it is not ours
    }
  }
  if (other_end != nullptr) other_end();
  std::abort();
}

// What the project's own tests read.
bool of_our_tests(std::string_view name) { return name.starts_with("TEST_") || name == "STRESS"; }

// The name of a name=value that begins with WEFT_ and is none of ours, without that prefix; else "".
std::string_view unknown_name(std::string_view entry) {
  if (!entry.starts_with(prefix)) return {};
  const std::string_view name = entry.substr(prefix.size(), entry.find('=') - prefix.size());
  const bool ours = std::find(known().begin(), known().end(), name) != known().end();
  return ours || of_our_tests(name) ? std::string_view() : name;
}

std::string line_about(std::string_view name) {
  const std::vector<std::string> near = base::near_names(name, known(), 1);
  return "weft: nothing reads the variable WEFT_" + base::printable(name) +
         (near.empty() ? std::string() : "; did you mean WEFT_" + near.front() + "?") + "\n";
}

}  // namespace

std::string variable_of(std::string_view option) {
  std::string name(prefix);
  for (const char c : option.substr(option.rfind('.') + 1))  // npos + 1 is 0: no dot
    name += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

void refuse_variable(const std::string& why) {
  static std::once_flag once;
  std::call_once(once, [] { other_end = std::set_terminate(&end_in_one_line); });
  throw bad_variable(why);
}

const char* value_of_variable(std::string_view option) {
  const char* text = ::secure_getenv(variable_of(option).c_str());
  return text != nullptr && *text != '\0' ? text : nullptr;
}

void report_unknown_variables() {
  static std::mutex guard;
  static auto* const told = new std::set<std::string, std::less<>>;  // never destroyed: a static runtime may come late
  const std::scoped_lock lock(guard);
  for (const char* const* entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view name = unknown_name(*entry);
    if (!name.empty() && told->emplace(name).second) std::fputs(line_about(name).c_str(), stderr);
  }
}

}  // namespace weft
