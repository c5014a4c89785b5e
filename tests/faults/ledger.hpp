// What a front has asked for and what has become of it. Tasks that were submitted run, unless somebody was told of an
// error; what their bodies hold is gone when the runtime is.
#pragma once
#include <atomic>
#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include <weft/weft.hpp>

namespace faults {

class ledger {
 public:
  // Lives in a body, from its submission to its end.
  class token {
   public:
    explicit token(ledger& of) noexcept : of_(&of) { ++of_->alive_; }
    token(const token& from) noexcept : of_(from.of_) { ++of_->alive_; }
    token(token&& from) noexcept : of_(from.of_) { ++of_->alive_; }
    token& operator=(const token&) = delete;
    ~token() { --of_->alive_; }
    void ran() const noexcept { ++of_->ran_; }

   private:
    ledger* of_;
  };
  [[nodiscard]] token held() noexcept { return token(*this); }

  // Calls what may be refused. Returns whether it was not. Nothing but the errors that the public headers name may
  // come.
  template <class F> bool tries(F&& f) {
    try {
      f();
      return true;
    } catch (const std::bad_alloc&) {
      told("bad_alloc");
    } catch (const weft::error& e) {
      told(e.what());
    }
    return false;
  }
  // The same of a submission, which counts if it succeeds.
  template <class F> bool submits(F&& f) {
    if (!tries(f)) {
      ++refused_;
      return false;
    }
    ++submitted_;
    return true;
  }
  void told(const char* what) noexcept {
    ++told_;
    if (said.empty()) {
      try {
        said = what;
      } catch (const std::bad_alloc&) {
      }
    }
  }
  // A wait or a runtime has told of a failure: tasks may have been skipped.
  void failed() noexcept { ++failed_; }
  template <class F> bool waits(F&& f) {
    if (tries(f)) return true;
    failed();
    return false;
  }
  void require(bool right, const char* what) noexcept {
    if (right) return;
    ++wrong_;
    std::fprintf(stderr, "  wrong: %s\n", what);
  }

  // After the runtime's end. Returns whether all is as it must be.
  [[nodiscard]] bool balances() noexcept {
    if (alive_ != 0) require(false, ("bodies that are left: " + std::to_string(alive_.load())).c_str());
    if (failed_ == 0 && ran_ != submitted_)
      require(false, (std::to_string(submitted_.load()) + " tasks submitted, " + std::to_string(ran_.load()) +
                      " ran, and nobody was told")
                         .c_str());
    if (ran_ > submitted_) require(false, "more tasks ran than were submitted");
    return wrong_ == 0;
  }
  [[nodiscard]] bool anything_told() const noexcept { return told_ != 0; }
  [[nodiscard]] bool anything_failed() const noexcept { return failed_ != 0; }
  [[nodiscard]] int submitted() const noexcept { return submitted_; }

  std::string said;

 private:
  std::atomic<int> alive_{0}, submitted_{0}, refused_{0}, ran_{0}, told_{0}, failed_{0}, wrong_{0};
};

struct front {
  const char* name;
  void (*run)(ledger& l, const weft::options& o);
};
// The fronts of the library, a program of some dozen tasks each.
[[nodiscard]] const front* fronts(std::size_t& count) noexcept;

}  // namespace faults
