// Recursions in Weft: fork_join, with and without the weft::here that a body gets, and finish with an async. The main
// thread starts them, outside of any task. Apart from the streams: what g++ inlines there depends on all of its file.
#include "weft_recursions.hpp"

#include <utility>

#include "weft/weft.hpp"

namespace weft::bench {

// Places have linkage, as what users write: inside of an unnamed namespace gcc 12 inlines these recursions otherwise.
// Each fork looks for its worker: the bodies drop the weft::here that they get.
struct finding {
  finding() = default;
  finding(here&) {}
  template <class First, class Second> auto fork(const First& first, const Second& second) const {
    return fork_join(first, second);
  }
  template <class F> static value start(F f) { return f(finding{}); }
};

struct handed {
  handed(here& h) : at(&h) {}
  template <class First, class Second> auto fork(const First& first, const Second& second) const {
    return fork_join(*at, first, second);
  }
  template <class F> static value start(F f) {
    return fork_join([f](here& h) { return f(handed(h)); }, [] { return nothing{}; }).first;
  }
  here* at;
};

// The first body is an async, the second the rest of its finish.
struct asyncs {
  asyncs(here& h) : at(&h) {}
  template <class First, class Second> auto fork(const First& first, const Second& second) const {
    std::pair<decltype(first(*this)), decltype(second(*this))> found{};
    finish(*at, [&](here& in) {
      async(in, [&](here& on) { found.second = second(asyncs(on)); });
      found.first = first(asyncs(in));  // as the others: memory is walked in the order in which it was laid out
    });
    return found;
  }
  template <class F> static value start(F f) {
    return fork_join([f](here& h) { return f(asyncs(h)); }, [] { return nothing{}; }).first;
  }
  here* at;
};

namespace {

template <class Place> class weft_forks {
 public:
  explicit weft_forks(const settings& how) : rt_({.workers = how.workers, .policy = how.policy}) {}
  template <class F> value start(F f) { return Place::start(f); }

 private:
  runtime rt_;
};

}  // namespace

std::vector<system_entry> weft_recursions(const std::string& version) {
  return {recursions_for<weft_forks<finding>>("weft", version),
          recursions_for<weft_forks<handed>>("weft-here", version),
          recursions_for<weft_forks<asyncs>>("weft-async", version)};
}

}  // namespace weft::bench
