// Tasks that hold handles exclusively while they wait for children which need others, among tasks that need several and
// reserve them (src/access/reservation.hpp). A handle that is kept for one that waits must not be kept from a child on
// which its holder depends: nothing here may get stuck, and a stall would be thrown as an error. To be free of cycles
// of its own, a task that waits for a child holds only handles that stand before those the child needs.
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "replay.hpp"
#include "weft/weft.hpp"

namespace {

using dice = weft::base::random;
using numbers = weft::handle<long>;

// How a parent waits for its child.
enum class way : std::uint8_t { all_children, handle, subtasks, full_window };

class program {
 public:
  program(weft::runtime& rt, std::uint64_t seed) : rt_(rt), rng_(seed), data_(3 + rng_.below(3)) {}

  std::string run() {
    // Streams that keep all handles busy, so that those who need several are told in vain.
    for (numbers& h : data_)
      for (int i = 0; i < 3; ++i) renew(h, 30);
    const std::uint32_t tasks = 10 + rng_.below(40);
    for (std::uint32_t i = 0; i < tasks; ++i) rng_.below(3) == 0 ? parent(0) : several();
    try {
      rt_.wait();
    } catch (const weft::error& e) {
      return e.what();
    }
    long sum = 0;
    for (numbers& h : data_) sum += h.unguarded();
    return sum == expected_ ? "" : "adds were lost: " + std::to_string(sum) + " of " + std::to_string(expected_.load());
  }

 private:
  using some = std::vector<numbers*>;

  // Of the handles from `first` to `last`, at least the last.
  some draw(std::size_t first, std::size_t last) {
    some s;
    for (std::size_t h = first; h <= last; ++h)
      if (h == last || rng_.below(2) == 0) s.push_back(&data_[h]);
    expected_ += static_cast<long>(s.size());
    return s;
  }
  static void add_one(weft::view<long> v) {
    for (long& x : v) {
      const long before = x;
      weft::charge(50);
      x = before + 1;
    }
  }

  void renew(numbers& h, int left) {
    ++expected_;
    rt_.submit(weft::add(h), [this, &h, left](long& x) {
      if (left > 1) renew(h, left - 1);
      ++x;
    });
  }
  void several() {
    const some s = draw(rng_.below(2), data_.size() - 1);
    if (rng_.below(3) == 0)
      rt_.submit(weft::add(s), weft::use(four_, 1 + rng_.below(4)), [](weft::view<long> v) { add_one(v); });
    else
      rt_.submit(weft::add(s), [](weft::view<long> v) { add_one(v); });
  }

  // Holds some handles from `first` on, and waits for a child that uses some behind them: perhaps another parent.
  void parent(std::size_t first) {
    const std::size_t last = first + rng_.below(static_cast<std::uint32_t>(data_.size() - 1 - first));
    const some mine = draw(first, last);
    const bool deeper = last + 2 < data_.size() && rng_.below(2) == 0;
    const some its = deeper ? some{} : draw(last + 1, data_.size() - 1);
    const way how = static_cast<way>(rng_.below(4));
    const std::uint32_t units = rng_.below(3);
    std::uint64_t child_seed = rng_.next();
    const auto body = [this, its, how, deeper, last, child_seed](weft::view<long> v) {
      add_one(v);
      if (deeper) return program_part(child_seed, last + 1);
      weft::handle<long> done{0};
      if (how == way::handle)
        rt_.submit(weft::add(its), weft::write(done), [](weft::view<long> c, long& d) { add_one(c), d = 1; });
      else
        rt_.submit(weft::add(its), [](weft::view<long> c) { add_one(c); });
      if (how == way::full_window)
        for (int i = 0; i < 100; ++i) rt_.submit([] {});
      if (how == way::handle) rt_.wait(done);
      if (how == way::all_children) rt_.wait();
    };
    if (how == way::subtasks)
      rt_.submit(weft::add(mine), weft::subtasks(), body);
    else if (units != 0 && first == 0)
      rt_.submit(weft::add(mine), weft::use(four_, units), body);
    else
      rt_.submit(weft::add(mine), body);
  }
  // A parent inside a parent, which waits for it.
  void program_part(std::uint64_t seed, std::size_t first) {
    const some mine = part(seed, first, data_.size() - 2);
    const some its = part(seed / 64, data_.size() - 1, data_.size() - 1);
    rt_.submit(weft::add(mine), [this, its](weft::view<long> v) {
      add_one(v);
      rt_.submit(weft::add(its), [](weft::view<long> c) { add_one(c); });
      rt_.wait();
    });
    rt_.wait();
  }
  // As draw(), for bodies that run beside others.
  some part(std::uint64_t seed, std::size_t first, std::size_t last) {
    some s;
    for (std::size_t h = first; h <= last; ++h)
      if (h == last || (seed >> h) % 2 == 0) s.push_back(&data_[h]);
    expected_ += static_cast<long>(s.size());
    return s;
  }

  weft::runtime& rt_;
  dice rng_;
  std::vector<numbers> data_;
  weft::resource four_{4};
  std::atomic<long> expected_{0};
};

std::string run_on(const char* machine, std::uint64_t seed) {
  static constexpr unsigned workers[] = {1, 2, 3, 5, 16};
  weft::options o{.workers = workers[seed % 5], .machine = machine, .seed = seed + 1};
  if (machine[0] == 'v') o.model.schedule = seed % 8 == 0 ? "time" : "random";
  if (seed % 3 == 0) o.window = 64;
  o.stack_kib = 128;
  weft::runtime rt(o);
  return program(rt, seed).run();
}

}  // namespace

TEST_CASE("reservations: what a holder waits for is not kept from it, in random order") {
  for_each_seed("reservations: *in random order", 0, sanitized ? 60 : 1000,
                [](std::uint64_t seed) { return run_on("virtual", seed); });
}

TEST_CASE("reservations: what a holder waits for is not kept from it, on real threads") {
  for_each_seed("reservations: *on real threads", 0, sanitized ? 40 : 300,
                [](std::uint64_t seed) { return run_on("host", seed); });
}

// The smallest such program, often: the holder of b waits for a child that adds to a, while somebody needs both.
TEST_CASE("reservations: the holder of one handle waits for a child that needs the other") {
  on_both_machines([](const weft::options& o) {
    for (const bool subtasks : {false, true}) {
      weft::runtime rt(o);
      numbers a{0}, b{0};
      constexpr int rounds = 200;
      for (int i = 0; i < rounds; ++i) {
        const auto holder = [&rt, &a, subtasks](long& x) {
          rt.submit(weft::add(a), [](long& y) { ++y; });
          if (!subtasks) rt.wait();
          ++x;
        };
        if (subtasks)
          rt.submit(weft::add(b), weft::subtasks(), holder);
        else
          rt.submit(weft::add(b), holder);
        for (int k = 0; k < 3; ++k) {
          rt.submit(weft::add(a), [](long& y) { ++y; });
          rt.submit(weft::add(b), [](long& x) { ++x; });
          rt.submit(weft::add(a), weft::add(b), [](long& y, long& x) { ++y, ++x; });
        }
      }
      rt.wait();
      CHECK(a.unguarded() == 7 * rounds);
      CHECK(b.unguarded() == 7 * rounds);
    }
  });
}
