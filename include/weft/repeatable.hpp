// Reductions that give the same bits in every run: on any number of workers, on real cores and modelled ones, whatever
// the schedule. They are used as weft::reduction is, with the same operations:
//
//   weft::repeatable_reduction<double> energy;
//   rt.submit(weft::reduce(energy), [](double& part) { part += ...; });
//   rt.get(energy)
//
// Each task adds to a neutral buffer of its own. Tasks are numbered as they are submitted, and buffers are merged along
// a binary tree over these numbers: 2k with 2k + 1, then these pairs, and so on. What has no partner when the datum is
// looked at is applied in order of numbers. So the shape of the sum depends on the submissions alone. They must come in
// the same order in every run: from one thread, or from one task. If one of the tasks fails, so does who looks.
// Cost: beside that of a reduction a buffer for each task, made and destroyed, and kept until its neighbour is done:
// where tasks run in about the order in which they were submitted, few at a time. docs/guide/13-reductions.md.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <cstdint>
#include <type_traits>
#include <utility>

#include "weft/reduction.hpp"

namespace weft {

template <class T, class Op = plus<T>> class repeatable_reduction : public handle<T> {
 public:
  using operation = Op;
  using buffer = typename Op::buffer;
  static constexpr bool is_numbered = true;

  template <class... Args>
    requires std::is_constructible_v<T, Args...>
  explicit repeatable_reduction(Args&&... args) : handle<T>(static_cast<Args&&>(args)...) {
    detail::register_reduction(this->state(), [](detail::handle_state& h) { of(h).apply(); });
  }
  ~repeatable_reduction() {
    this->state().drain();
    detail::forget_reduction(this->state());
    const pieces left{static_cast<piece*>(left_over_.raw)};
  }

  // The number of a task that is being submitted. Who: the submitter; of several threads each gets others. Order:
  // relaxed. After 2^32 tasks numbers begin again, which changes no sum as long as no look is half of that away.
  [[nodiscard]] std::uint32_t take_number() noexcept { return detail::take_number(submitted_); }

 private:
  // The sum of the 2^level tasks from number `first` on.
  struct piece {
    std::uint32_t first;
    std::uint8_t level;
    piece* next;  // a list is in order of numbers
    buffer value;
  };
  // A list of them, whose it is.
  struct pieces {
    piece* first = nullptr;
    ~pieces() {
      while (first != nullptr) delete take();
    }
    [[nodiscard]] piece* take() noexcept {
      piece* const p = first;
      first = p->next;
      return p;
    }
    void put(piece* p) noexcept {
      p->next = first;
      first = p;
    }
  };

 public:
  // What one task writes to. give_back() when the body is over; the destructor does so where the body has thrown.
  class part {
   public:
    part(repeatable_reduction& r, std::uint32_t number)
        : r_(r), own_(new piece{number, 0, nullptr, Op::create(r.unguarded())}) {}
    ~part() {
      if (own_ == nullptr) return;
      try {
        give_back();
      } catch (...) {  // the exception that is on its way came first
      }
    }
    part(const part&) = delete;
    part& operator=(const part&) = delete;

    [[nodiscard]] buffer& get() noexcept { return own_->value; }

    // Errors: what merge() throws; what was to be merged is gone then.
    void give_back() {
      piece* const list = own_;
      own_ = nullptr;
      r_.give_back(list);
    }

   private:
    repeatable_reduction& r_;
    piece* own_;
  };

 private:
  [[nodiscard]] static repeatable_reduction& of(detail::handle_state& h) noexcept {
    return static_cast<repeatable_reduction&>(reinterpret_cast<handle_base&>(h));
  }

  // Leaves a list with the handle. If another lies there the two become one and it tries again: every round takes a
  // list out of the world, so it ends.
  void give_back(piece* list) {
    detail::engine_base& engine = *this->state().engine;
    while (auto* other = static_cast<piece*>(engine.exchange(this->state(), left_over_, list))) {
      auto* mine = static_cast<piece*>(engine.exchange(this->state(), left_over_, nullptr));
      list = mine == nullptr ? other : joined(mine, other);
    }
  }
  [[nodiscard]] static piece* joined(piece* first, piece* second) {
    pieces a{first}, b{second}, sums;  // of these the last first
    while (a.first != nullptr || b.first != nullptr) {
      const bool a_is_next =
          b.first == nullptr || (a.first != nullptr && static_cast<std::int32_t>(a.first->first - b.first->first) < 0);
      sums.put((a_is_next ? a : b).take());
      while (sums.first->next != nullptr && are_siblings(*sums.first->next, *sums.first)) {
        Op::merge(sums.first->next->value, sums.first->value);
        ++sums.first->next->level;
        delete sums.take();
      }
    }
    pieces list;
    while (sums.first != nullptr) list.put(sums.take());
    return std::exchange(list.first, nullptr);
  }
  [[nodiscard]] static bool are_siblings(const piece& a, const piece& b) noexcept {
    return a.level == b.level && (a.first >> a.level) % 2 == 0 && b.first - a.first == std::uint32_t{1} << a.level;
  }
  // Who: the task that closes a group of reduces; nobody else touches the handle then.
  void apply() {
    pieces rest{static_cast<piece*>(left_over_.raw)};
    left_over_.raw = nullptr;
    for (; rest.first != nullptr; delete rest.take()) Op::apply(this->unguarded(), rest.first->value);
  }

  detail::cell<void*> left_over_;
  detail::cell<std::uint32_t> submitted_;
};

template <class T, class Op> [[nodiscard]] auto reduce(repeatable_reduction<T, Op>& r) noexcept {
  return detail::reduce_clause<repeatable_reduction<T, Op>>{r};
}

}  // namespace weft
