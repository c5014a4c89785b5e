// Several modelled machines in one virtual time, on one thread: nodes that meet in a network only. Nothing that a node
// does is felt by another one in less than the lookahead, the network's least latency. So they are played in windows:
// of all that is to come the earliest is at W; what is on its way between nodes is played up to W + lookahead, and then
// each node, in order, what it has before that. Within a window no node concerns another, so their order decides
// nothing (docs/decisions/0085).
// Each node has a program, which makes a runtime and joins it, on a stack of its own.
// Who: one thread, which calls run(); the programs are on it, too.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "machine/fiber.hpp"
#include "machine/virtual/virtual.hpp"

namespace weft::machine {

class joint_time {
 public:
  static constexpr std::uint64_t never = ~std::uint64_t{0};

  // What is on its way between nodes.
  struct between {
    [[nodiscard]] virtual std::uint64_t next_ps() = 0;  // when the next of it happens; never: nothing is
    virtual void advance(std::uint64_t until_ps) = 0;   // all of it before then; tells nodes by message_at()
    // All nodes wait, and nothing is on its way. Returns whether some node has been told of a message because of that.
    [[nodiscard]] virtual bool stalled() = 0;

   protected:
    ~between() = default;
  };
  joint_time(unsigned nodes, std::uint64_t lookahead_ps, between& b);
  ~joint_time();
  joint_time(const joint_time&) = delete;
  joint_time& operator=(const joint_time&) = delete;

  // Calls program(with, node) for each node; returns when all have returned. They may not throw.
  void run(void (*program)(void* with, unsigned node), void* with);
  // --- by the program of that node
  // m's time is the common one from now on, until leave(). `hears`: whether messages may still come, for who looks for
  // a stall; this sets it.
  void join(unsigned node, virtual_machine& m, bool& hears, std::uint64_t notice_ps);
  void leave(unsigned node);
  [[nodiscard]] bool joined(unsigned number) const noexcept { return nodes_[number]->machine != nullptr; }
  // --- by anybody
  // When the present window begins: nobody is earlier.
  [[nodiscard]] std::uint64_t window_ps() const noexcept { return window_ps_; }
  // As virtual_machine::message_at, of a node that may have left.
  void message_at(unsigned node, std::uint64_t at_ps);

 private:
  struct node final : virtual_machine::others {
    explicit node(joint_time& a, unsigned n) : all(a), number(n) {}
    void pass(fiber& from) override;
    [[nodiscard]] std::uint64_t next_ps() const noexcept;

    joint_time& all;
    unsigned number;
    std::unique_ptr<fiber> stack;  // of the program
    fiber* at = nullptr;           // where it goes on
    virtual_machine* machine = nullptr;
    bool* hears = nullptr;
    bool begun = false, ended = false;
  };
  static void begin(void* n);
  void go_on(node& n, std::uint64_t until_ps);
  void tell_one_of_stall();

  std::vector<std::unique_ptr<node>> nodes_;
  std::uint64_t lookahead_ps_, window_ps_ = 0;
  between& between_;
  fiber home_;  // the stack of run()
  void (*program_)(void* with, unsigned node) = nullptr;
  void* with_ = nullptr;
};

}  // namespace weft::machine
