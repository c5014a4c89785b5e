// What C++20 allows, by enumeration: all candidates of reads-from and modification orders, and of these the consistent
// ones ([intro.races], [atomics.order]); and with RC11 no circle of program order and reads-from.
#include <algorithm>
#include <numeric>

#include "weak/litmus.hpp"

namespace weft::weak::litmus {

std::string outcome(const std::vector<std::vector<unsigned>>& read, const std::vector<unsigned>& last) {
  std::string text;
  for (const auto& of_thread : read)
    for (const unsigned value : of_thread) text += std::to_string(value) + ' ';
  text += '|';
  for (const unsigned value : last) text += ' ' + std::to_string(value);
  return text;
}

namespace {

using relation = std::vector<std::vector<bool>>;

[[nodiscard]] relation closed(relation r) {
  const std::size_t n = r.size();
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) r[i][j] = r[i][j] || (r[i][k] && r[k][j]);
  return r;
}
[[nodiscard]] bool circular(const relation& r) {
  const relation c = closed(r);
  for (std::size_t i = 0; i < c.size(); ++i)
    if (c[i][i]) return true;
  return false;
}

struct event {
  access a;
  int thread;  // -1: the initial value of a word
  [[nodiscard]] bool reads() const noexcept { return thread >= 0 && a.what != does::store; }
  [[nodiscard]] bool writes() const noexcept { return thread < 0 || a.what != does::load; }
  [[nodiscard]] bool acquires() const noexcept {
    return reads() && (a.order == base::acquire || a.order == base::acq_rel || in_order());
  }
  [[nodiscard]] bool releases() const noexcept {
    return thread >= 0 && writes() && (a.order == base::release || a.order == base::acq_rel || in_order());
  }
  [[nodiscard]] bool in_order() const noexcept { return thread >= 0 && a.order == base::seq_cst; }
};

class candidate {
 public:
  explicit candidate(const program& p) : threads_(p.size()) {
    for (const steps& t : p)
      for (const access& a : t) words_ = std::max(words_, a.word + 1);
    for (unsigned w = 0; w < words_; ++w) events_.push_back({{does::store, w, base::relaxed, 0}, -1});
    for (std::size_t t = 0; t < p.size(); ++t)
      for (const access& a : p[t]) events_.push_back({a, static_cast<int>(t)});
    from_.assign(events_.size(), 0);
    before_ = empty();
    for (std::size_t i = 0; i < events_.size(); ++i)
      for (std::size_t j = i + 1; j < events_.size(); ++j)
        before_[i][j] = events_[j].thread >= 0 && (events_[i].thread < 0 || events_[i].thread == events_[j].thread);
  }

  [[nodiscard]] outcomes all() {
    choose_source(0);
    return found_;
  }

 private:
  [[nodiscard]] relation empty() const { return relation(events_.size(), std::vector<bool>(events_.size())); }

  void choose_source(std::size_t i) {
    if (i == events_.size()) {
      orders_.assign(words_, {});
      return choose_order(0);
    }
    if (!events_[i].reads()) return choose_source(i + 1);
    for (std::size_t j = 0; j < events_.size(); ++j) {
      if (j == i || !events_[j].writes() || events_[j].a.word != events_[i].a.word) continue;
      from_[i] = j;
      choose_source(i + 1);
    }
  }
  void choose_order(unsigned word) {
    if (word == words_) return judge();
    std::vector<std::size_t> others;
    for (std::size_t i = words_; i < events_.size(); ++i)
      if (events_[i].writes() && events_[i].a.word == word) others.push_back(i);
    do {
      orders_[word].assign(1, word);
      orders_[word].insert(orders_[word].end(), others.begin(), others.end());
      choose_order(word + 1);
    } while (std::next_permutation(others.begin(), others.end()));
  }

  void judge() {
    if (!is_atomic()) return;
    relation causes = before_;
    for (std::size_t i = 0; i < events_.size(); ++i)
      if (events_[i].reads()) causes[from_[i]][i] = true;
    if (circular(causes)) return;
    const relation coherent = coherence();
    const relation happens = closed(united(before_, synchronises()));
    for (std::size_t i = 0; i < events_.size(); ++i)
      for (std::size_t j = 0; j < events_.size(); ++j)
        if (happens[i][j] && (i == j || coherent[j][i])) return;
    for (std::size_t i = 0; i < events_.size(); ++i)
      if (coherent[i][i]) return;
    if (has_order_of_all(happens, coherent)) note();
  }

  // A read-modify-write comes right behind what it reads.
  [[nodiscard]] bool is_atomic() const {
    for (const auto& order : orders_)
      for (std::size_t k = 1; k < order.size(); ++k)
        if (events_[order[k]].reads() && from_[order[k]] != order[k - 1]) return false;
    return true;
  }
  // Of reads and writes of one word: reads-from, modification order, from-reads, and what follows.
  [[nodiscard]] relation coherence() const {
    relation r = empty();
    for (const auto& order : orders_)
      for (std::size_t k = 0; k < order.size(); ++k)
        for (std::size_t l = k + 1; l < order.size(); ++l) r[order[k]][order[l]] = true;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (!events_[i].reads()) continue;
      r[from_[i]][i] = true;
      const auto& order = orders_[events_[i].a.word];
      for (auto at = std::next(std::find(order.begin(), order.end(), from_[i])); at != order.end(); ++at)
        if (*at != i) r[i][*at] = true;
    }
    return closed(r);
  }
  [[nodiscard]] relation synchronises() const {
    relation r = empty();
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (!events_[i].acquires()) continue;
      for (std::size_t head = from_[i];; head = from_[head]) {
        if (events_[head].releases()) r[head][i] = true;
        if (!events_[head].reads()) break;
      }
    }
    return r;
  }
  // S agrees with strongly happens before, and with coherence.
  [[nodiscard]] bool has_order_of_all(const relation& happens, const relation& coherent) const {
    relation strong = before_;
    const relation direct = synchronises();
    const std::size_t n = events_.size();
    for (std::size_t a = 0; a < n; ++a)
      for (std::size_t b = 0; b < n; ++b) {
        if (direct[a][b] && events_[a].in_order() && events_[b].in_order()) strong[a][b] = true;
        for (std::size_t x = 0; x < n && !strong[a][b]; ++x)
          for (std::size_t y = 0; y < n; ++y)
            if (before_[a][x] && happens[x][y] && before_[y][b]) strong[a][b] = true;
      }
    strong = closed(strong);
    relation s = empty();
    for (std::size_t a = 0; a < n; ++a)
      for (std::size_t b = 0; b < n; ++b)
        if (events_[a].in_order() && events_[b].in_order()) s[a][b] = strong[a][b] || coherent[a][b];
    return !circular(s);
  }
  [[nodiscard]] static relation united(relation a, const relation& b) {
    for (std::size_t i = 0; i < a.size(); ++i)
      for (std::size_t j = 0; j < a.size(); ++j) a[i][j] = a[i][j] || b[i][j];
    return a;
  }

  [[nodiscard]] unsigned value_of(std::size_t i) const {
    const event& e = events_[i];
    return e.a.what == does::add ? value_of(from_[i]) + e.a.value : e.a.value;
  }
  void note() {
    std::vector<std::vector<unsigned>> read(threads_);
    for (std::size_t i = 0; i < events_.size(); ++i)
      if (events_[i].reads()) read[static_cast<std::size_t>(events_[i].thread)].push_back(value_of(from_[i]));
    std::vector<unsigned> last;
    for (const auto& order : orders_) last.push_back(value_of(order.back()));
    found_.insert(outcome(read, last));
  }

  std::size_t threads_;
  unsigned words_ = 0;
  std::vector<event> events_;
  relation before_;                               // sequenced, and initial values before all
  std::vector<std::size_t> from_;                 // of each that reads
  std::vector<std::vector<std::size_t>> orders_;  // [word]
  outcomes found_;
};

}  // namespace

outcomes by_axioms(const program& p) { return candidate(p).all(); }

}  // namespace weft::weak::litmus
