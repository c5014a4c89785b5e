// Records that lie on the stack of a body - the branches of forks, the scopes of finishes - as queues and tasks see
// them. On a modelled machine it tells on the times where in its lines a record lies, and a stack begins where the
// system puts it. So there another record goes in its place, from memory that lies the same way in every run, and is as
// near to its worker as the stack would be. On real machines a record stands for itself.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "base/assert.hpp"
#include "weft/detail/branch.hpp"
#include "weft/detail/scope.hpp"

namespace weft::machine {

using detail::branch;
using detail::record;

struct no_stand_ins {
  // What is offered in b's place, and from then on until leave(b) what is there for it.
  [[nodiscard]] static branch& offer(branch& b) noexcept { return b; }
  [[nodiscard]] static branch& of(branch& b) noexcept { return b; }
  static void leave(branch&) noexcept {}
  // The record of a scope: its own, or another. Until leave().
  [[nodiscard]] static record& of(detail::scope& s) noexcept { return s.own; }
  static void leave(record&) noexcept {}
};

// Who: the one thread that a modelled machine has. M is told of memory that is new.
template <class M> class stand_ins {
 public:
  // Errors: std::bad_alloc. What runs it, or destroys it, does so to b.
  [[nodiscard]] branch& offer(branch& b) {
    auto& s = static_cast<branch_in_place&>(take(branches_));
    static_cast<branch&>(s) = b;
    s.real = &b;
    s.invoke = [](record& r, detail::errand what) {
      branch& real = *static_cast<branch_in_place&>(r).real;
      real.invoke(real, what);
    };
    b.thrown = &s;
    return s;
  }
  // Who: only the body that forked uses b itself, whose field for what was thrown is free.
  [[nodiscard]] static branch& of(branch& b) noexcept { return *static_cast<branch_in_place*>(b.thrown); }
  void leave(branch& b) noexcept { branches_.idle.push_back(static_cast<branch_in_place*>(b.thrown)); }

  [[nodiscard]] record& of(detail::scope&) { return take(records_); }
  void leave(record& r) noexcept { records_.idle.push_back(static_cast<record_in_place*>(&r)); }

 private:
  struct alignas(64) branch_in_place : branch {
    branch* real;
  };
  struct alignas(64) record_in_place : record {};
  template <class T> struct shelf {
    std::vector<std::unique_ptr<T>> all;
    std::vector<T*> idle;
  };
  template <class T> [[nodiscard]] static T& take(shelf<T>& from) {
    if (from.idle.empty()) {
      from.idle.reserve(from.all.size() + 1);  // so that leave() allocates nothing
      from.all.push_back(std::make_unique<T>());
      from.idle.push_back(from.all.back().get());
      M::fresh(from.idle.back(), sizeof(T));
    }
    T& x = *from.idle.back();
    from.idle.pop_back();
    return x;
  }

  shelf<branch_in_place> branches_;
  shelf<record_in_place> records_;
};

}  // namespace weft::machine
