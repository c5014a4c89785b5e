// A file that another program wrote: its bytes, and how to say where in it something is wrong.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace weft::tool::foreign {

inline constexpr std::int64_t no_time = INT64_MIN;
// Recorders write microseconds: so much may be lost of a moment by rounding, and so much clocks of two threads differ.
inline constexpr std::int64_t rounding_ns = 2'000, clocks_ns = 10'000;
inline constexpr double microsecond_ns = 1e3, millisecond_ns = 1e6, second_ns = 1e9;

class source {
 public:
  // The whole file; "-" is standard input. Errors: weft::error if it cannot be read, is empty, larger than 4 GiB, or
  // packed.
  explicit source(const std::string& path);
  // For tests: that text.
  source(std::string path, std::string text) : path_(std::move(path)), text_(std::move(text)) {}

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::string_view text() const noexcept { return text_; }

  // How this format counts: "line 7", or "workflow.tasks[7]".
  void counts_in(std::string before, std::string after = "") {
    before_ = std::move(before);
    after_ = std::move(after);
  }
  [[nodiscard]] std::string place_text(std::uint64_t place) const { return before_ + std::to_string(place) + after_; }

  // A list of JSON whose program was killed: Chrome and others write "[a, b," and no end. Ends it.
  void end_array();

  // Throws weft::error("PATH: what") and weft::error("PATH: line 7: what").
  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void fail_at(std::uint64_t place, const std::string& what) const;

  // Calls `take` with each line, numbered from 1, without its end.
  void lines(const std::function<void(std::uint32_t number, std::string_view line)>& take) const;

  // Numbers of the file, as times. scale: nanoseconds of one. Errors: weft::error at that place, if the text is no
  // number, or one that no time can be. `what` names it: "duration".
  [[nodiscard]] std::int64_t duration(std::string_view text, double scale, std::uint64_t place, const char* what) const;
  [[nodiscard]] std::int64_t duration(double number, double scale, std::uint64_t place, const char* what) const;
  // A moment, which may be before the file's origin.
  [[nodiscard]] std::int64_t moment(std::string_view text, double scale, std::uint64_t place, const char* what) const;
  [[nodiscard]] std::int64_t moment(double number, double scale, std::uint64_t place, const char* what) const;
  [[nodiscard]] std::uint64_t count(std::string_view text, std::uint64_t max, std::uint64_t place,
                                    const char* what) const;

 private:
  [[nodiscard]] double number(std::string_view text, std::uint64_t place, const char* what) const;

  std::string path_, text_;
  std::string before_ = "line ", after_;
};

[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept;
// The words of a list: between spaces or semicolons.
void words(std::string_view list, const std::function<void(std::string_view)>& take);

}  // namespace weft::tool::foreign
