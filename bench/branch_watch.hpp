// Proof that a system runs every branch once and does not return before both are over: each branch of the proving pass
// has a record, looked at when its fork returns and again at the end. Bodies take pauses of many lengths, so that other
// workers come to take branches.
#pragma once
#include <atomic>
#include <cstddef>
#include <vector>

#include "body.hpp"

namespace weft::bench {

class branch_watch {
 public:
  class branch {
   public:
    template <class F> auto run(F f) {
      begun_.fetch_add(1);
      spin(number_ * 0x9e3779b97f4a7c15U >> 58);
      auto result = f();
      spin(number_ * 0xd1342543de82ef95U >> 58);
      over_.fetch_add(1);
      return result;
    }
    [[nodiscard]] bool ran_once() const noexcept { return begun_.load() == 1 && over_.load() == 1; }

   private:
    friend branch_watch;
    value number_ = 0;
    std::atomic<int> begun_{0}, over_{0};
  };
  struct both {
    branch first, second;
  };

  explicit branch_watch(std::size_t forks_max) : forks_(forks_max) {
    for (std::size_t i = 0; i < forks_max; ++i) {
      forks_[i].first.number_ = 2 * i + 1;
      forks_[i].second.number_ = 2 * i + 2;
    }
  }
  // A record for a fork; nullptr if there were more than there can be, which is wrong.
  [[nodiscard]] both* next() noexcept {
    const std::size_t i = used_.fetch_add(1);
    return i < forks_.size() ? &forks_[i] : nullptr;
  }
  void judge(const both* fork) noexcept {
    if (fork == nullptr || !fork->first.ran_once() || !fork->second.ran_once()) wrong_.store(true);
  }
  [[nodiscard]] bool all_right() noexcept {
    for (std::size_t i = 0; i < used_.load() && i < forks_.size(); ++i) judge(&forks_[i]);
    return !wrong_.load();
  }

 private:
  std::vector<both> forks_;
  std::atomic<std::size_t> used_{0};
  std::atomic<bool> wrong_{false};
};

// A place whose forks are watched.
template <class Place> class watched {
 public:
  watched(Place at, branch_watch& by) : at_(at), by_(&by) {}
  template <class First, class Second> [[gnu::noinline]] auto fork(const First& first, const Second& second) const {
    branch_watch::both* const seen = by_->next();
    const auto run = [by = by_](branch_watch::branch* b, Place p, const auto& body) {
      const auto call = [&] { return body(watched(p, *by)); };
      return b != nullptr ? b->run(call) : call();
    };
    const auto result = at_.fork([&](Place p) { return run(seen == nullptr ? nullptr : &seen->first, p, first); },
                                 [&](Place p) { return run(seen == nullptr ? nullptr : &seen->second, p, second); });
    by_->judge(seen);
    return result;
  }

 private:
  Place at_;
  branch_watch* by_;
};

}  // namespace weft::bench
