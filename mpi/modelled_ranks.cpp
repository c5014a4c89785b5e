#include "weft/modelled_ranks.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "agreement.hpp"
#include "weft/error.hpp"
#include "weft/modelled_nodes.hpp"
#include "weft/runtime.hpp"

namespace weft {

namespace {

constexpr std::uint64_t never = ~std::uint64_t{0};
constexpr std::size_t nobody = ~std::size_t{0};

// A message, from the first of its two sides that is posted until the last that is told. Of one sender and tag the
// first send is for the first receive, and so on.
struct crossing {
  int from = 0, to = 0;
  message* send = nullptr;      // until it is over
  message* receive = nullptr;
  bool sent = false;            // the send has been posted
  bool leaves = false;          // it is on its way, or here
  bool is_here = false;
  bool spoiled = false, eager = false;
  std::size_t bytes = 0;
  std::uint64_t sent_ps = 0, awaited_ps = 0, alone_ps = 0;
  std::vector<std::byte> copied;  // of one that is eager
  std::size_t after = nobody;     // in its queue
};

struct ended {
  std::uint64_t at_ps, sequence;
  message* what;
  [[nodiscard]] bool later_than(const ended& o) const noexcept {
    return at_ps != o.at_ps ? at_ps > o.at_ps : sequence > o.sequence;
  }
};
constexpr auto last_first = [](const ended& a, const ended& b) { return a.later_than(b); };

struct side {
  std::vector<ended> over;  // a heap: to be given back from then on
  bool joined = false;
  bool gone = false;        // the rank has left
  bool knows = false;       // that the ranks have failed
  std::string wrong;        // what a message to it was
};

class modelled_world final : public modelled_nodes::receiver {
 public:
  explicit modelled_world(const modelled_ranks& how)
      : tag_limit(how.tag_limit), nodes(how.machine, static_cast<unsigned>(how.ranks), how.change),
        costs_(nodes.of_a_message()), sides_(nodes.size()) {}

  void post_send(int from, message& m) {
    nodes.spend_ps(node(from), costs_.send_ps);
    if (at(m.peer).gone) return add_over(from, nodes.now_ps(node(from)), m);  // nobody takes it, nor waits for it
    const std::size_t number = side_of(from, m.peer, m.tag, true);
    crossing& x = crossings_[number];
    x.send = &m;
    x.sent = true;
    x.bytes = m.bytes;
    x.spoiled = m.spoiled;
    x.sent_ps = nodes.now_ps(node(from));
    x.eager = m.spoiled || m.bytes <= costs_.eager_bytes || from == m.peer;
    if (!x.eager) {
      if (x.receive != nullptr) shake_hands(number);
      return;
    }
    if (!m.spoiled && m.bytes != 0) {
      const auto* const first = static_cast<const std::byte*>(m.data);
      x.copied.assign(first, first + m.bytes);
    }
    x.send = nullptr;
    add_over(from, x.sent_ps, m);  // who posts asks at once what is over
    leave(number, x.sent_ps);
  }

  void post_receive(int to, message& m) {
    const std::size_t number = side_of(m.peer, to, m.tag, false);
    crossing& x = crossings_[number];
    x.receive = &m;
    x.awaited_ps = nodes.now_ps(node(to));
    if (x.is_here)
      take(number, x.awaited_ps);
    else if (x.sent && !x.leaves)
      shake_hands(number);
  }

  [[nodiscard]] message* over(int rank) {
    side& s = at(rank);
    if (!s.wrong.empty()) throw error(s.wrong);
    const std::uint64_t now = nodes.now_ps(node(rank));
    message* first = nullptr;
    message** last = &first;
    while (!s.over.empty() && s.over.front().at_ps <= now) {
      std::pop_heap(s.over.begin(), s.over.end(), last_first);
      message* const m = s.over.back().what;
      s.over.pop_back();
      if (!m->sends) nodes.spend_ps(node(rank), costs_.receive_ps);
      m->next = nullptr;
      *last = m;
      last = &m->next;
    }
    if (first == nullptr && s.knows) throw error(failed_);
    look(rank);
    return first;
  }

  void leaves(int rank, const char* why) {
    side& s = at(rank);
    if (std::exchange(s.gone, true)) return;
    bool untaken = false;
    for (crossing& x : crossings_) {
      if (x.to == rank) {
        x.receive = nullptr;
        untaken = untaken || (x.send != nullptr && x.from != rank);
      }
      if (x.from == rank) x.send = nullptr;
    }
    s.over.clear();
    if (why != nullptr)
      fail(rank, why);
    else if (untaken)
      fail(rank, "weft: rank " + std::to_string(rank) + " has ended and has not taken a message to it");
    if (s.joined) nodes.leave(node(rank));
  }

  void arrived(std::uint64_t number, std::uint64_t at_ps) noexcept override {
    if (number >= notices) {
      side& s = sides_[number - notices];
      s.knows = true;
      return nodes.look(static_cast<unsigned>(number - notices), at_ps);
    }
    crossing& x = crossings_[number];
    x.is_here = true;
    report.slow_ns += static_cast<double>(at_ps - std::min(at_ps, x.alone_ps)) / 1000;
    if (x.receive != nullptr)
      take(number, at_ps);
    else if (at(x.to).gone)
      release(number);
  }

  // So it will be for ever: what is awaited fails, on every rank.
  [[nodiscard]] bool stalled() noexcept override {
    if (!failed_.empty()) return false;
    failed_ = "weft: all ranks wait, and no message is on its way";
    constexpr int named_max = 8;
    int named = 0;
    for (const auto& [key, first] : by_key())
      for (std::size_t number = first; number != nobody; number = crossings_[number].after) {
        const crossing& x = crossings_[number];
        const message* const m = x.sent ? x.send : x.receive;
        if (m == nullptr || m->shorter || ++named > named_max) continue;  // the shorter ones are of nobody's program
        failed_ += "\n  rank " + std::to_string(x.sent ? x.from : x.to) +
                   (x.sent ? " has one for rank " : " waits for one from rank ") + std::to_string(m->peer) +
                   " with tag " + std::to_string(m->tag);
      }
    if (named > named_max) failed_ += "\n  and " + std::to_string(named - named_max) + " more";
    for (side& s : sides_) s.knows = true;
    for (unsigned r = 0; r < nodes.size(); ++r) nodes.look(r, 0);
    return true;
  }

  void joins(int rank, runtime& rt) {
    nodes.join(node(rank), rt);
    at(rank).joined = true;
  }

  const int tag_limit;
  modelled_nodes nodes;
  network_report report;

 private:
  static constexpr std::uint64_t notices = std::uint64_t{1} << 62;  // and the rank that is told: that all have failed

  [[nodiscard]] static unsigned node(int rank) noexcept { return static_cast<unsigned>(rank); }
  [[nodiscard]] side& at(int rank) noexcept { return sides_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] static std::uint64_t key(int from, int to, int tag) noexcept {
    return static_cast<std::uint64_t>(from) << 48 | static_cast<std::uint64_t>(to) << 32 |
           static_cast<std::uint32_t>(tag);
  }

  // The same in every run.
  [[nodiscard]] std::map<std::uint64_t, std::size_t> by_key() const {
    std::map<std::uint64_t, std::size_t> all;
    for (const auto& [key, q] : waiting_) all.emplace(key, q.first);
    return all;
  }

  // The crossing whose other side waits for this one, or a new one that waits.
  [[nodiscard]] std::size_t side_of(int from, int to, int tag, bool sends) {
    const auto [at, is_new] = waiting_.try_emplace(key(from, to, tag), queue{nobody, nobody});
    queue& q = at->second;
    if (!is_new && crossings_[q.first].sent != sends) {
      const std::size_t number = q.first;
      q.first = crossings_[number].after;
      if (q.first == nobody) waiting_.erase(at);
      return number;
    }
    std::size_t number = crossings_.size();
    if (free_.empty()) {
      crossings_.emplace_back();
    } else {
      number = free_.back();
      free_.pop_back();
    }
    crossings_[number] = {};
    crossings_[number].from = from;
    crossings_[number].to = to;
    (is_new ? q.first : crossings_[q.last].after) = number;
    q.last = number;
    return number;
  }
  void release(std::size_t number) noexcept {
    crossings_[number] = {};
    free_.push_back(number);
  }

  // The sender asks, and leaves when it has the answer.
  void shake_hands(std::size_t number) {
    const crossing& x = crossings_[number];
    const std::uint64_t asked = x.sent_ps + nodes.latency_ps(node(x.from), node(x.to));
    leave(number, std::max(asked, x.awaited_ps) + nodes.latency_ps(node(x.to), node(x.from)));
  }
  void leave(std::size_t number, std::uint64_t at_ps) {
    crossing& x = crossings_[number];
    x.leaves = true;
    ++report.messages;
    report.bytes += x.spoiled ? 0 : x.bytes;
    report.eager += x.eager ? 1 : 0;
    if (x.from == x.to) {
      x.is_here = true;
      if (x.receive != nullptr) take(number, at_ps);
      return;
    }
    x.alone_ps = nodes.send(number, node(x.from), node(x.to), x.spoiled ? 0 : x.bytes, at_ps);
  }

  // It is here, and awaited.
  void take(std::size_t number, std::uint64_t at_ps) noexcept {
    crossing& x = crossings_[number];
    message& m = *x.receive;
    if (x.bytes > m.bytes || (x.bytes != m.bytes && !m.shorter)) {
      at(x.to).wrong = "weft: rank " + std::to_string(x.to) + " expects " + std::to_string(m.bytes) +
                       " bytes from rank " + std::to_string(x.from) + ", which has sent " + std::to_string(x.bytes);
    } else {
      const void* const data = x.send != nullptr ? x.send->data : x.copied.data();
      m.spoiled = x.spoiled;
      m.bytes = x.bytes;
      if (!x.spoiled && x.bytes != 0 && data != nullptr) std::memcpy(m.data, data, x.bytes);
    }
    is_over(x.to, at_ps, m);
    if (x.send != nullptr) is_over(x.from, at_ps, *x.send);
    release(number);
  }
  void add_over(int rank, std::uint64_t at_ps, message& m) noexcept {
    side& s = at(rank);
    s.over.push_back({at_ps, sequence_++, &m});
    std::push_heap(s.over.begin(), s.over.end(), last_first);
  }
  void is_over(int rank, std::uint64_t at_ps, message& m) noexcept {
    add_over(rank, at_ps, m);
    look(rank);
  }
  void look(int rank) noexcept {
    const side& s = at(rank);
    nodes.look(node(rank), s.knows || !s.wrong.empty() ? 0 : s.over.empty() ? never : s.over.front().at_ps);
  }

  // The others learn it as by a message.
  void fail(int rank, const std::string& why) {
    if (!failed_.empty()) return;
    failed_ = why;
    const std::uint64_t now = at(rank).joined ? nodes.now_ps(node(rank)) : 0;
    for (unsigned r = 0; r < nodes.size(); ++r)
      if (r != node(rank)) static_cast<void>(nodes.send(notices + r, node(rank), r, 0, now));
  }

  const modelled_nodes::costs costs_;
  std::vector<side> sides_;
  std::deque<crossing> crossings_;
  std::vector<std::size_t> free_;
  // Of those whose other side has not been posted, of one sender, receiver and tag: none is empty.
  struct queue {
    std::size_t first, last;
  };
  std::unordered_map<std::uint64_t, queue> waiting_;
  std::uint64_t sequence_ = 0;
  std::string failed_;  // why some rank has given up
};

class modelled_transport final : public transport {
 public:
  modelled_transport(modelled_world& all, int rank) : all_(all), rank_(rank) {}
  [[nodiscard]] int rank() const noexcept override { return rank_; }
  [[nodiscard]] int size() const noexcept override { return static_cast<int>(all_.nodes.size()); }
  [[nodiscard]] int tag_limit() const noexcept override { return all_.tag_limit; }
  void begin(runtime& rt) override { all_.joins(rank_, rt); }
  void post(message& m) override { m.sends ? all_.post_send(rank_, m) : all_.post_receive(rank_, m); }
  [[nodiscard]] message* progress() override { return all_.over(rank_); }
  void leave(const char* why) noexcept override { all_.leaves(rank_, why); }

 private:
  modelled_world& all_;
  int rank_;
};

struct modelled_run {
  modelled_world& all;
  const std::function<void(transport&)>& program;
  std::vector<std::unique_ptr<modelled_transport>> nets{};
  std::exception_ptr first{};  // that a rank has thrown

  static void rank(void* self, unsigned node) {
    auto& run = *static_cast<modelled_run*>(self);
    modelled_transport& net = *run.nets[node];
    try {
      run.program(net);
      net.leave(nullptr);  // unless it has
    } catch (...) {
      const std::exception_ptr why = std::current_exception();
      const std::string who = "weft: rank " + std::to_string(node);
      net.leave((who + " has ended with an exception: " + detail::text_of(why)).c_str());
      if (run.first == nullptr) run.first = why;
    }
  }
};

}  // namespace

network_report run_modelled_ranks(const modelled_ranks& how, const std::function<void(transport&)>& program) {
  if (how.ranks < 0)
    throw error("weft: " + std::to_string(how.ranks) + " ranks; there must be 1 at least, or 0 for all");
  modelled_ranks asked = how;
  if (asked.machine == nullptr) asked.machine = std::getenv("WEFT_MACHINE");
  modelled_world all(asked);
  modelled_run run{all, program};
  for (unsigned r = 0; r < all.nodes.size(); ++r)
    run.nets.push_back(std::make_unique<modelled_transport>(all, static_cast<int>(r)));
  all.nodes.run(&modelled_run::rank, &run, all);
  if (run.first != nullptr) std::rethrow_exception(run.first);
  const modelled_nodes::links busiest = all.nodes.busiest();
  network_report r = all.report;
  r.longest_full_ns = static_cast<double>(busiest.full_ps_most) / 1000;
  r.longest_full_node = std::min(busiest.longest_full / 2, all.nodes.size());
  r.longest_full_sends = busiest.longest_full % 2 == 0;
  return r;
}

}  // namespace weft
