// The machine's memory against the axioms: on the litmus tests of the literature, in every mixture of orders, and on
// random programs. Each of its choices is tried, so that what is compared is all that either allows.
#include "weak/litmus.hpp"

#include <algorithm>
#include <map>

#include <doctest/doctest.h>

#include "base/assert.hpp"
#include "base/random.hpp"
#include "quick.hpp"
#include "weak/memory.hpp"

namespace weft::weak::litmus {

namespace {

using base::acq_rel;
using base::acquire;
using base::relaxed;
using base::release;
using base::seq_cst;

// Goes through all choices, depth first.
class all_choices final : public chooser {
 public:
  [[nodiscard]] std::uint32_t pick(std::uint32_t n) override {
    if (at_ == path_.size()) path_.push_back({0, n});
    WEFT_ASSERT(path_[at_].second == n);
    return path_[at_++].first;
  }
  // Whether there is another path.
  [[nodiscard]] bool next() {
    at_ = 0;
    while (!path_.empty() && path_.back().first + 1 == path_.back().second) path_.pop_back();
    if (path_.empty()) return false;
    ++path_.back().first;
    return true;
  }

 private:
  std::vector<std::pair<std::uint32_t, std::uint32_t>> path_;
  std::size_t at_ = 0;
};

const site here{"tests/weak/litmus.cpp", 0, 0, kind::load};

unsigned run(memory& m, unsigned core, const access& a, std::uint32_t* words) {
  std::uint32_t* w = &words[a.word];
  if (a.what == does::load) return static_cast<unsigned>(m.load(core, w, 4, a.order, here));
  if (a.what == does::store) return m.store(core, w, 4, a.value, a.order, here), 0;
  return static_cast<unsigned>(m.modify(core, w, 4, a.order, a.order, here, [&](std::uint64_t old, std::uint64_t& out) {
    out = a.what == does::add ? old + a.value : a.value;
    return true;
  }));
}

}  // namespace

outcomes by_memory(const program& p, broken what) {
  outcomes found;
  all_choices choices;
  unsigned words = 0;
  for (const steps& t : p)
    for (const access& a : t) words = std::max(words, a.word + 1);
  do {
    memory m(choices, what);
    m.open(static_cast<unsigned>(p.size()));
    std::vector<std::uint32_t> shared(words);
    std::vector<std::size_t> at(p.size());
    std::vector<std::vector<unsigned>> read(p.size());
    for (;;) {
      std::vector<unsigned> goes_on;
      for (unsigned t = 0; t < p.size(); ++t)
        if (at[t] < p[t].size()) goes_on.push_back(t);
      if (goes_on.empty()) break;
      const auto n = static_cast<std::uint32_t>(goes_on.size());
      const unsigned t = goes_on[n == 1 ? 0 : choices.pick(n)];
      const access& a = p[t][at[t]++];
      const unsigned value = run(m, t, a, shared.data());
      if (a.what != does::store) read[t].push_back(value);
    }
    found.insert(outcome(read, {shared.begin(), shared.end()}));
  } while (choices.next());
  return found;
}

namespace {

access R(unsigned word) { return {does::load, word, relaxed}; }
access W(unsigned word, unsigned value = 1) { return {does::store, word, relaxed, value}; }
access X(unsigned word, unsigned value = 1) { return {does::exchange, word, relaxed, value}; }
access A(unsigned word, unsigned value = 1) { return {does::add, word, relaxed, value}; }

struct shape {
  const char* name;
  program p;
  const char* of_interest;  // an outcome
};

// Words 0 and 1 are x and y.
const shape shapes[] = {
    {"SB", {{W(0), R(1)}, {W(1), R(0)}}, "0 0 | 1 1"},
    {"LB", {{R(0), W(1)}, {R(1), W(0)}}, "1 1 | 1 1"},
    {"MP", {{W(0), W(1)}, {R(1), R(0)}}, "1 0 | 1 1"},
    {"2+2W", {{W(0, 1), W(1, 2)}, {W(1, 1), W(0, 2)}}, "| 1 1"},
    {"R", {{W(0, 1), W(1, 1)}, {W(1, 2), R(0)}}, "0 | 1 2"},
    {"S", {{W(0, 2), W(1)}, {R(1), W(0, 1)}}, "1 | 2 1"},
    {"CoRR", {{W(0)}, {R(0), R(0)}}, "1 0 | 1"},
    {"CoWR", {{W(0, 1), R(0)}, {W(0, 2)}}, "2 | 1"},
    {"CoRW", {{R(0), W(0, 1)}, {W(0, 2)}}, "2 | 2"},
    {"CoWW", {{W(0, 1), W(0, 2)}}, "| 1"},
    {"CoRR2", {{W(0, 1)}, {W(0, 2)}, {R(0), R(0)}, {R(0), R(0)}}, "1 2 2 1 | 1"},
    {"WRC", {{W(0)}, {R(0), W(1)}, {R(1), R(0)}}, "1 1 0 | 1 1"},
    {"IRIW", {{W(0)}, {W(1)}, {R(0), R(1)}, {R(1), R(0)}}, "1 0 1 0 | 1 1"},
    {"RWC", {{W(0)}, {R(0), R(1)}, {W(1), R(0)}}, "1 0 0 | 1 1"},
    {"W+RWC", {{W(0), W(1)}, {R(1), R(2)}, {W(2), R(0)}}, "1 0 0 | 1 1 1"},
    {"Z6", {{W(0), W(1, 1)}, {W(1, 2), W(2)}, {R(2), R(0)}}, "1 0 | 1 2 1"},
    {"release sequence", {{W(0), W(1, 1)}, {A(1)}, {R(1), R(0)}}, "1 2 0 | 1 2"},
    {"own store in a sequence", {{W(0), W(1, 1), W(1, 2)}, {R(1), R(0)}}, "2 0 | 1 2"},
    {"RMW atomicity", {{A(0)}, {A(0)}}, "0 0 | 1"},
    {"RMW and store", {{A(0), R(0)}, {W(0, 5)}}, "0 5 | 6"},
    {"exchange SB", {{X(0), R(1)}, {X(1), R(0)}}, "0 0 0 0 | 1 1"},
    {"MP by RMW", {{W(0), X(1)}, {X(1, 2), R(0)}}, "0 1 0 | 1 2"},
};

const std::vector<base::order>& orders_of(does what) {
  static const std::vector<base::order> loads{relaxed, acquire, seq_cst}, stores{relaxed, release, seq_cst},
      both{relaxed, acquire, release, acq_rel, seq_cst};
  return what == does::load ? loads : what == does::store ? stores : both;
}

// Calls see(program) for every mixture of orders.
template <class See> void in_all_orders(program p, std::size_t access_index, See& see) {
  std::size_t i = access_index;
  for (steps& t : p) {
    if (i >= t.size()) {
      i -= t.size();
      continue;
    }
    for (const base::order o : orders_of(t[i].what)) {
      t[i].order = o;
      in_all_orders(p, access_index + 1, see);
    }
    return;
  }
  see(p);
}

const char* in_words(base::order o) {
  return o == relaxed ? "rlx" : o == acquire ? "acq" : o == release ? "rel" : o == acq_rel ? "ar" : "sc";
}

std::string in_words(const program& p) {
  std::string text;
  for (const steps& t : p) {
    text += text.empty() ? "" : " || ";
    for (const access& a : t) {
      const char* name = a.what == does::load ? "R" : a.what == does::store ? "W" : a.what == does::add ? "A" : "X";
      text += std::string(&a == t.data() ? "" : "; ") + name + in_words(a.order) + " " + "xyz"[a.word] +
              (a.what == does::load ? "" : " " + std::to_string(a.value));
    }
  }
  return text;
}

std::string in_words(const outcomes& all) {
  std::string text;
  for (const std::string& o : all) text += "  [" + o + "]";
  return text;
}

bool agree(const program& p) {
  const outcomes allowed = by_axioms(p), seen = by_memory(p);
  if (allowed == seen) return true;
  FAIL_CHECK(in_words(p) << "\n allowed" << in_words(allowed) << "\n seen   " << in_words(seen));
  return false;
}

program random_program(std::uint64_t seed) {
  base::random rng(seed);
  program p(2 + rng.below(2));
  const unsigned words = 1 + rng.below(3);
  for (steps& t : p)
    for (std::uint32_t n = 1 + rng.below(p.size() == 2 ? 3 : 2); n > 0; --n) {
      const auto what = static_cast<does>(rng.below(4));
      const auto& orders = orders_of(what);
      const base::order o = rng.below(2) == 0 ? seq_cst : orders[rng.below(static_cast<std::uint32_t>(orders.size()))];
      t.push_back({what, rng.below(words), o, what == does::load ? 0 : 1 + rng.below(3)});
    }
  return p;
}

}  // namespace

TEST_CASE("litmus: in every mixture of orders the machine ends as the axioms say, and no other way") {
  for (const shape& s : shapes) {
    std::size_t tried = 0;
    bool as_said = true;
    const auto see = [&](const program& p) {
      if (tried++ % (hurried ? 7 : 1) == 0 && as_said) as_said = agree(p);
    };
    CAPTURE(s.name);
    in_all_orders(s.p, 0, see);
    CHECK(tried >= 1);
  }
}

TEST_CASE("litmus: a memory that is broken on purpose ends otherwise than the axioms say") {
  const auto notices = [](broken what) {
    bool differs = false;
    for (const shape& s : shapes) {
      unsigned tried = 0;
      const auto see = [&](const program& p) {
        if (!differs && tried++ < 400) differs = by_axioms(p) != by_memory(p, what);
      };
      in_all_orders(s.p, 0, see);
    }
    return differs;
  };
  CHECK(notices(broken::release));
  CHECK(notices(broken::acquire));
  CHECK(notices(broken::coherence));
  CHECK(notices(broken::order_of_all));
  CHECK(notices(broken::sequences));
  CHECK(notices(broken::modification));
}

TEST_CASE("litmus: random programs") {
  for (std::uint64_t seed = 1; seed <= few(3000); ++seed) {
    CAPTURE(seed);
    if (!agree(random_program(seed))) break;
  }
}

}  // namespace weft::weak::litmus
