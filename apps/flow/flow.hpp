// What the programs of OpenStream's evaluation (§4.3, Table 3) have in common. Each exists in three forms that share
// their kernels: one task that does all of it; SHM, tasks on shared arrays, which the runtime knows nothing of but
// their order; and DSA, tasks that hand private buffers on through streams. A program is a list of stages, each of so
// many items; a control program submits the items' tasks, from one thread or from tasks of its own (§2.1).
#pragma once
#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "../app.hpp"

namespace weft::apps::flow {

enum class form : std::uint8_t { serial, shm, dsa };

struct setting {
  std::string form = "dsa";
  std::string layout = "interleaved";
  std::string control = "parallel";
  std::string allocation = "deferred";
  std::size_t creators = 0;
  std::size_t cycles = 0;
  std::size_t pages = 0;  // KiB
  bool migrate = false;
  bool model_only = false;

  // Errors, of all four: weft::error for a word that is none of those in the option's help.
  [[nodiscard]] flow::form which() const;
  [[nodiscard]] memory_placement placement() const;
  [[nodiscard]] bool is_sequential() const;
  [[nodiscard]] bool is_chained() const { return control == "chained"; }  // see program::is_chained
  [[nodiscard]] bool is_immediate() const;  // of memory for streams: taken on submission (§3.2)
  // Of computing for one element: the program's own number, unless the option says another.
  [[nodiscard]] double cycles_or(double own) const { return cycles != 0 ? static_cast<double>(cycles) : own; }
  [[nodiscard]] static std::vector<option> options(const std::shared_ptr<setting>& s);
  void describe(result& r) const;
};

// Memory of a modelled machine in pages of so many KiB, unless 0, which the system moves to who uses them or leaves
// alone: added to what the options, or else the environment, change about the machine.
// Errors: weft::error for pages that migrate and have no size; the runtime's, for a size that none has.
[[nodiscard]] weft::options with_pages(const weft::options& opt, std::size_t kib, bool migrate);
[[nodiscard]] option pages_option(std::size_t* kib);
[[nodiscard]] option migrate_option(bool* migrate);

// Addresses that nobody may touch, for data of modelled bodies: nothing is allocated for them.
class addresses {
 public:
  // Errors: weft::error if there are not so many.
  explicit addresses(std::size_t bytes);
  ~addresses();
  addresses(const addresses&) = delete;
  addresses& operator=(const addresses&) = delete;
  [[nodiscard]] void* begin() const noexcept { return begin_; }

 private:
  void* begin_ = nullptr;
  std::size_t bytes_;
};

// An array that all tasks share, or the addresses of one.
template <class T> class area {
 public:
  area(std::size_t n, const memory_placement& how, bool is_model_only)
      : data_(is_model_only ? 0 : n, how), reserved_(is_model_only ? n * sizeof(T) : 0),
        begin_(is_model_only ? static_cast<T*>(reserved_.begin()) : data_.data()) {
    if (is_model_only && n != 0) place_memory(begin_, n * sizeof(T), how);
  }
  [[nodiscard]] T* at(std::size_t i) const noexcept { return begin_ + i; }
  // First use of elements that are computed before they are read: of their pages, and on modelled machines.
  void touch(std::size_t from, std::size_t n) const {
    if (data_.size() != 0) std::fill_n(begin_ + from, n, T{});
    charge(0, stores(from, n));
  }
  [[nodiscard]] data_use loads(std::size_t from, std::size_t n) const noexcept {
    return weft::loads(begin_ + from, n * sizeof(T));
  }
  [[nodiscard]] data_use stores(std::size_t from, std::size_t n) const noexcept {
    return weft::stores(begin_ + from, n * sizeof(T));
  }
  [[nodiscard]] data_use updates(std::size_t from, std::size_t n) const noexcept {
    return weft::updates(begin_ + from, n * sizeof(T));
  }

 private:
  numa_array<T> data_;
  addresses reserved_;
  T* begin_;
};

// So many at most, without allocation.
template <class T, std::size_t Most> struct few {
  T all[Most];
  std::size_t count = 0;
  void add(const T& x) {
    assert(count < Most);
    all[count++] = x;
  }
  [[nodiscard]] const T* begin() const noexcept { return all; }
  [[nodiscard]] const T* end() const noexcept { return all + count; }
};

using tokens = few<handle<void>*, 16>;  // of the blocks that a task on shared arrays reads or writes
using data_uses = few<data_use, 16>;

// Stages come one after the other; the items of one may be submitted in any order and at the same time. What tasks do
// to each other is up to their clauses: a stage does not wait for the tasks of the one before.
class program {
 public:
  // Bodies are counted in so many places, each for tasks that run one after the other.
  program(const setting& s, std::size_t places) : is_model_only(s.model_only), made(s.which()), ran_(places) {}
  virtual ~program() = default;
  program(const program&) = delete;
  program& operator=(const program&) = delete;

  [[nodiscard]] virtual std::size_t stages() const = 0;
  [[nodiscard]] virtual std::size_t items(std::size_t stage) const = 0;
  // Submits the tasks of an item or, in the serial form, does what they would do.
  virtual void go(runtime& rt, std::size_t stage, std::size_t item) = 0;
  // Whether tasks submit each other once the first are there.
  [[nodiscard]] virtual bool is_chained() const { return false; }
  // Of all tasks with a body that computes.
  [[nodiscard]] virtual std::size_t bodies() const = 0;

  // What a body says when it has computed, or would have: its place, its cycles, and what it moved.
  void spend(std::size_t place, double cycles, const data_uses& uses) {
    count_body(place);
    charge(cycles * ns_per_cycle, uses.begin(), uses.count);
  }
  // A body whose data are those of its streams, and whose cycles its clause has told.
  void count_body(std::size_t place) { ++ran_[place]; }
  [[nodiscard]] std::size_t ran() const;
  [[nodiscard]] detail::cost_clause computing(double cycles) const { return cost(cycles * ns_per_cycle); }

  const bool is_model_only;
  const form made;
  double ns_per_cycle = 1;

 private:
  std::vector<std::uint32_t> ran_;
};

// Memory of streams as the setting says. Before anything is submitted.
template <class... Streams> void allocate(const setting& s, Streams&... all) {
  const bool on = s.is_immediate();
  const auto tell = [on](auto& streams) {
    for (auto& x : streams) x.immediate(on);
  };
  (tell(all), ...);
}

// In the form that the program was made in: a task on shared arrays, or a call.
template <class Body> void submit_shared(runtime& rt, const program& p, const char* name, const tokens& reads,
                                         const tokens& writes, const Body& body) {
  if (p.made == form::serial) return body();
  rt.submit(named(name), read(reads), write(writes), body);
}

// Everything, by the control program of the setting. Returns the seconds that it took on the runtime's machine.
// Errors: weft::error for --model-only on a machine that is not modelled.
[[nodiscard]] double drive(runtime& rt, const setting& s, program& p, progress& bar);

// The first values of an array, by a task for each block, before time counts.
template <class Body> void fill_blocks(runtime& rt, std::size_t blocks, const Body& body) {
  for (std::size_t b = 0; b < blocks; ++b) rt.submit(named("fill"), [&body, b] { body(b); });
  rt.wait();
}

// No body was lost and none ran twice, which some results would not show.
[[nodiscard]] check all_ran(const program& p);

}  // namespace weft::apps::flow
