#include "weft/thread_ranks.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <exception>
#include <list>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "agreement.hpp"
#include "weft/error.hpp"

namespace weft {

namespace {

constexpr std::size_t always_eager_bytes = 8 << 10;
constexpr unsigned delay_max = 6;  // calls of the receiver's progress()

// On its way to a rank.
struct letter {
  int from = 0, tag = 0;
  std::size_t bytes = 0;
  bool spoiled = false;
  unsigned delay = 0;
  message* sender = nullptr;      // of one that waits for its receiver
  std::vector<std::byte> copied;  // of one that does not
};

struct mailbox {
  std::list<letter> letters;      // in order of sending
  std::list<message*> receives;   // in order of posting
  std::vector<message*> over;     // to be given back
  bool gone = false;              // the rank has left
};

// What all ranks share.
struct world {
  explicit world(const thread_ranks& h) : how(h), boxes(static_cast<std::size_t>(h.ranks)), random(h.seed) {}
  const thread_ranks how;
  std::mutex mutex;
  std::vector<mailbox> boxes;
  std::mt19937_64 random;
  std::string failed;  // why some rank has given up
};

class thread_transport final : public transport {
 public:
  thread_transport(world& w, int rank) : all_(w), rank_(rank) {}
  [[nodiscard]] int rank() const noexcept override { return rank_; }
  [[nodiscard]] int size() const noexcept override { return all_.how.ranks; }
  [[nodiscard]] int tag_limit() const noexcept override { return all_.how.tag_limit; }

  void post(message& m) override {
    const std::scoped_lock hold(all_.mutex);
    if (!m.sends) return mine().receives.push_back(&m);
    mailbox& to = box(m.peer);
    if (to.gone) return mine().over.push_back(&m);  // nobody takes it, nor waits for it
    letter x{rank_, m.tag, m.bytes, m.spoiled, draw(delay_max), nullptr, {}};
    const bool eager = m.bytes <= always_eager_bytes || (m.bytes <= all_.how.eager_bytes && draw(2) == 0);
    if (eager || m.spoiled) {
      if (!m.spoiled && m.bytes != 0) {
        x.copied.resize(m.bytes);
        std::memcpy(x.copied.data(), m.data, m.bytes);
      }
      mine().over.push_back(&m);
    } else {
      x.sender = &m;
    }
    to.letters.push_back(std::move(x));
  }

  [[nodiscard]] message* progress() override {
    const std::scoped_lock hold(all_.mutex);
    deliver();
    message* first = nullptr;
    std::vector<message*>& over = mine().over;
    for (auto m = over.rbegin(); m != over.rend(); ++m) {
      (*m)->next = first;
      first = *m;
    }
    over.clear();
    if (first == nullptr && !all_.failed.empty()) throw error(all_.failed);
    return first;
  }

  void leave(const char* why) noexcept override {
    const std::scoped_lock hold(all_.mutex);
    if (why != nullptr && all_.failed.empty()) all_.failed = why;
    mine().gone = true;
    // Who sends something large that is not taken is told, or it would wait for ever.
    const auto waits = [](const letter& x) { return x.sender != nullptr; };
    if (all_.failed.empty() && std::ranges::any_of(mine().letters, waits))
      all_.failed = "weft: rank " + std::to_string(rank_) + " has ended and has not taken a message to it";
    mine().receives.clear();
    mine().letters.clear();
    mine().over.clear();
    for (mailbox& b : all_.boxes)
      std::erase_if(b.letters, [this](const letter& x) { return x.sender != nullptr && x.from == rank_; });
  }

 private:
  [[nodiscard]] mailbox& box(int rank) { return all_.boxes[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] mailbox& mine() { return box(rank_); }
  // 0 to n - 1, and 0 without a seed.
  [[nodiscard]] unsigned draw(unsigned n) {
    return all_.how.seed == 0 ? 0 : static_cast<unsigned>(all_.random() % n);
  }

  // What has been on its way long enough goes to the first receive that it fits; of those with one tag and sender only
  // the first may.
  void deliver() {
    mailbox& m = mine();
    for (letter& x : m.letters)
      if (x.delay != 0) --x.delay;
    for (auto r = m.receives.begin(); r != m.receives.end();) {
      message& to = **r;
      const auto x = std::ranges::find_if(
          m.letters, [&to](const letter& l) { return l.from == to.peer && l.tag == to.tag; });
      if (x == m.letters.end() || x->delay != 0) {
        ++r;
        continue;
      }
      take(*x, to);
      m.letters.erase(x);
      m.over.push_back(&to);
      r = m.receives.erase(r);
    }
  }
  void take(const letter& x, message& to) {
    if (x.bytes > to.bytes || (x.bytes != to.bytes && !to.shorter))
      throw error("weft: rank " + std::to_string(rank_) + " expects " + std::to_string(to.bytes) +
                  " bytes from rank " + std::to_string(x.from) + ", which has sent " + std::to_string(x.bytes));
    to.spoiled = x.spoiled;
    to.bytes = x.bytes;
    const void* const from = x.sender != nullptr ? x.sender->data : x.copied.data();
    if (!x.spoiled && x.bytes != 0) std::memcpy(to.data, from, x.bytes);
    if (x.sender != nullptr) box(x.from).over.push_back(x.sender);
  }

  world& all_;
  int rank_;
};

}  // namespace

void run_ranks(const thread_ranks& how, const std::function<void(transport&)>& program) {
  if (how.ranks < 1) throw error("weft: " + std::to_string(how.ranks) + " ranks; there must be 1 at least");
  world all(how);
  std::vector<std::exception_ptr> threw(static_cast<std::size_t>(how.ranks));
  std::vector<std::unique_ptr<thread_transport>> nets;
  for (int r = 0; r < how.ranks; ++r) nets.push_back(std::make_unique<thread_transport>(all, r));
  int first = -1;  // to throw
  {
    std::vector<std::jthread> threads;
    for (int r = 0; r < how.ranks; ++r)
      threads.emplace_back([&, r] {
        try {
          program(*nets[static_cast<std::size_t>(r)]);
        } catch (...) {
          threw[static_cast<std::size_t>(r)] = std::current_exception();
          const std::string why = "weft: rank " + std::to_string(r) + " has ended with an exception: ";
          nets[static_cast<std::size_t>(r)]->leave(
              (why + detail::text_of(threw[static_cast<std::size_t>(r)])).c_str());
          const std::scoped_lock hold(all.mutex);
          if (first < 0) first = r;
        }
      });
  }
  if (first >= 0) std::rethrow_exception(threw[static_cast<std::size_t>(first)]);
}

}  // namespace weft
