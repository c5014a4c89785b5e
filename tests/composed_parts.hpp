// Small programs inside of the random ones (composed.hpp), and what is theirs together. Each part uses one more of what
// the library has, computes a number that is known beforehand, and is over when it returns. They stand anywhere: in
// bodies, finishes, branches, on threads.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "weft/weft.hpp"

namespace composed {

using number = std::uint64_t;

[[nodiscard]] inline number mix(number a, number b) {
  number x = (a ^ (b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2))) * 0xbf58476d1ce4e5b9u;
  return x ^ (x >> 29);
}

struct failure {
  unsigned id;
};

[[nodiscard]] inline number leaf(number salt, unsigned i) { return mix(salt, i); }
[[nodiscard]] inline number loop(number salt, unsigned n) {
  number sum = 0;
  for (unsigned i = 0; i < n; ++i) sum += leaf(salt, i);
  return sum;
}

enum class part : std::uint8_t {
  lives_shortly,
  resource,
  tokens,
  renamed,
  peeks,
  deferred,
  pipeline,
  scan,
  throwing_forks,
  submitting_forks,
  hints,
  many_handles,
  event,
  failing_finish,  // the last: a thread outside has no scope for a finish
  count
};
inline constexpr unsigned parts = static_cast<unsigned>(part::count), parts_anywhere = parts - 1;

// What it computes. n: below 16.
[[nodiscard]] inline number right_of(part p, number salt, unsigned n) {
  number x = salt;
  switch (p) {
  case part::lives_shortly:
  case part::renamed:
  case part::deferred:
  case part::many_handles:
    for (unsigned i = 0; i < n; ++i) x = mix(x, i);
    return x;
  case part::peeks: return n == 0 ? salt : 3 * mix(salt, n);
  case part::pipeline:
    for (unsigned i = 0; i < n; ++i) x = mix(x, leaf(salt, i));
    return x;
  case part::scan: return loop(salt, n);
  case part::throwing_forks: return n == 0 ? salt : 1 + salt % (1u << (n % 5));
  case part::submitting_forks: return loop(salt, 1u << (n % 5));
  case part::failing_finish: return n == 0 ? 0 : 1 + salt % n;
  case part::resource:
  case part::tokens:
  case part::hints:
  case part::event:
  case part::count: break;
  }
  return loop(salt, n);
}

class part_performer {
 public:
  explicit part_performer(weft::runtime& rt) : rt_(rt) {}

  [[nodiscard]] number run(part p, number salt, unsigned n) {
    switch (p) {
    case part::lives_shortly: return lives_shortly(salt, n);
    case part::resource: return with_resource(salt, n);
    case part::tokens: return with_tokens(salt, n);
    case part::renamed: return renamed(salt, n);
    case part::peeks: return peeks(salt, n);
    case part::deferred: return deferred(salt, n);
    case part::pipeline: return pipeline(salt, n);
    case part::scan: return scan(salt, n);
    case part::throwing_forks: return first_thrown(salt, n);
    case part::submitting_forks: return submitted_in_forks(salt, n);
    case part::hints: return with_hints(salt, n);
    case part::many_handles: return many_handles(salt, n);
    case part::event: return with_event(salt, n);
    case part::failing_finish: return failing_finish(salt, n);
    case part::count: break;
    }
    return 0;
  }

 private:
  // The destructor of the handle is the only wait.
  number lives_shortly(number salt, unsigned n) {
    number got = 0;
    {
      weft::handle<number> h{salt};
      for (unsigned i = 0; i < n; ++i) rt_.submit(weft::write(h), [i](number& x) { x = mix(x, i); });
      rt_.submit(weft::read(h), [&got](const number& x) { got = x; });
    }
    return got;
  }
  number with_resource(number salt, unsigned n) {
    const auto units = static_cast<std::uint32_t>(1 + salt % 3);
    weft::resource r(units);
    weft::handle<number> sum{0};
    std::atomic<std::uint32_t> in_use{0};
    std::atomic<bool> wrong{false};
    for (unsigned i = 0; i < n; ++i) {
      const std::uint32_t mine = 1 + i % units;
      rt_.submit(weft::use(r, mine), weft::concurrent(sum), [&, i, mine](number& s) {
        if (in_use.fetch_add(mine) + mine > units) wrong = true;
        std::atomic_ref(s).fetch_add(leaf(salt, i));
        in_use -= mine;
      });
    }
    const number got = rt_.get(sum);
    return wrong ? 0 : got;
  }
  number with_tokens(number salt, unsigned n) {
    std::atomic<number> sum{0};
    number got = 0;
    weft::task_token one, other;
    for (unsigned i = 0; i < n; ++i) rt_.submit(weft::as(i % 2 == 0 ? one : other), [&, i] { sum += leaf(salt, i); });
    weft::task_token last;
    rt_.submit(weft::after(one), weft::after(other), weft::as(last), [&] { got = sum; });
    rt_.wait(last);
    return got;
  }
  // Readers of old values have them, whoever writes the new ones meanwhile.
  number renamed(number salt, unsigned n) {
    std::atomic<bool> wrong{false};
    weft::buffered<number, 3> b{salt};
    number x = salt;
    for (unsigned i = 0; i < n; ++i) {
      auto& now = b.current();
      auto& next = b.advance();
      rt_.submit(weft::read(now), weft::write(next), [i](const number& from, number& to) { to = mix(from, i); });
      x = mix(x, i);
      rt_.submit(weft::read(next), [&wrong, x](const number& value) {
        if (value != x) wrong = true;
      });
    }
    const number got = rt_.get(b.current());
    rt_.wait(b.previous(1));
    rt_.wait(b.previous(2));
    return wrong ? 0 : got;
  }
  number peeks(number salt, unsigned n) {
    if (n == 0) return salt;
    std::atomic<number> sum{0};
    {
      weft::stream<number> s;
      const auto sees = [&](std::span<const number> in) { sum += in[n - 1]; };
      rt_.submit(weft::peek(s, n), sees);
      rt_.submit(weft::push(s, n), [salt](std::span<number> out) {
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = mix(salt, i + 1);
      });
      rt_.submit(weft::peek(s, n), sees);
      rt_.submit(weft::pop(s, n), sees);
    }
    return sum;
  }
  number deferred(number salt, unsigned n) {
    weft::handle<weft::deferred<number>> h{std::size_t{2}};
    rt_.submit(weft::write(h), [salt](weft::deferred<number>& d) { d.get()[1] = salt; });
    for (unsigned i = 0; i < n; ++i)
      rt_.submit(weft::write(h), [i](weft::deferred<number>& d) { d.get()[1] = mix(d.get()[1], i); });
    number got = 0;
    rt_.submit(weft::write(h), [&got](weft::deferred<number>& d) { got = d.get()[1], d.drop(); });
    rt_.wait(h);
    return got;
  }
  static number pipeline(number salt, unsigned n) {
    number x = salt;
    unsigned made = 0;
    weft::pipeline(weft::serial([&]() -> std::optional<unsigned> {
                     return made < n ? std::optional<unsigned>(made++) : std::nullopt;
                   }),
                   weft::parallel([salt](unsigned i) { return leaf(salt, i); }),
                   weft::serial([&x](number y) { x = mix(x, y); }));
    return x;
  }
  static number scan(number salt, unsigned n) {
    std::vector<number> items(n), sums(n);
    for (unsigned i = 0; i < n; ++i) items[i] = leaf(salt, i);
    weft::inclusive_scan(items.begin(), items.end(), sums.begin(), number{0}, std::plus<>());
    return n == 0 ? 0 : sums.back();
  }
  // All leaves from one on throw: the first of them is told.
  number first_thrown(number salt, unsigned n) {
    if (n == 0) return salt;
    const auto leaves = 1u << (n % 5);
    try {
      fork(0, leaves, [&](unsigned i) {
        if (i >= salt % leaves) throw failure{i + 1};
      });
    } catch (const failure& f) {
      return f.id;
    }
    return 0;
  }
  number submitted_in_forks(number salt, unsigned n) {
    weft::handle<number> sum{0};
    fork(0, 1u << (n % 5),
         [&](unsigned i) { rt_.submit(weft::add(sum), [salt, i](number& s) { s += leaf(salt, i); }); });
    return rt_.get(sum);
  }
  template <class Leaf> static void fork(unsigned from, unsigned to, const Leaf& leaf_of) {
    if (to - from == 1) return leaf_of(from);
    const unsigned middle = from + (to - from) / 2;
    weft::fork_join([&] { fork(from, middle, leaf_of); }, [&] { fork(middle, to, leaf_of); });
  }
  number with_hints(number salt, unsigned n) {
    weft::numa_array<number> values(64, weft::memory_placement::interleaved());
    std::vector<weft::handle<number>> sums(1);
    for (unsigned i = 0; i < n; ++i)
      rt_.submit(weft::near(values, i, i + 1), weft::write(sums[0]), [&, i](number& s) {
        values[i] = leaf(salt, i);
        s += values[i];
      });
    return rt_.get(sums[0]);
  }
  // More accesses than a record has room for.
  number many_handles(number salt, unsigned n) {
    std::vector<weft::handle<number>> all(n + 1);
    std::vector<weft::handle<number>*> named;
    for (weft::handle<number>& h : all) named.push_back(&h);
    rt_.submit(weft::write(all[0]), [salt](number& x) { x = salt; });
    for (unsigned i = 0; i < n; ++i)
      rt_.submit(weft::write(named), [i](weft::view<number> x) { x[i + 1] = mix(x[i], i); });
    return rt_.get(all[n]);
  }
  number with_event(number salt, unsigned n) {
    weft::handle<number> sum{0};
    std::vector<std::unique_ptr<weft::event>> all;
    for (unsigned i = 0; i < n; ++i) {
      all.push_back(std::make_unique<weft::event>());
      weft::event& e = *all.back();
      rt_.submit(weft::add(sum), weft::completes(e), [salt, i](number& s) { s += leaf(salt, i); });
      if (i % 3 == 0) e.fulfil();
      if (i % 3 == 1) rt_.submit([&e] { e.fulfil(); });
      if (i % 3 == 2) rt_.submit([&e] { weft::yield(), e.fulfil(); });
    }
    for (const auto& e : all) e->wait();
    return rt_.get(sum);
  }
  // Asyncs and tasks in turn, all of which throw from one on.
  number failing_finish(number salt, unsigned n) {
    try {
      weft::finish([&] {
        for (unsigned i = 0; i < n; ++i) {
          const auto body = [i, first = salt % n] {
            if (i >= first) throw failure{i + 1};
          };
          i % 2 == 0 || salt % 2 == 0 ? weft::async(body) : rt_.submit(body);
        }
      });
    } catch (const failure& f) {
      return f.id;
    }
    return 0;
  }

  weft::runtime& rt_;
};

}  // namespace composed
