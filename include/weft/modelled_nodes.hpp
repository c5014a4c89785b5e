// The nodes of a cluster that need not be there: each has a runtime on modelled cores, all of them one virtual time,
// and messages between them take what a modelled network takes ([network] of a machine file;
// docs/guide/53-modelled-clusters.md). This is what a transport of messages stands on (weft/modelled_ranks.hpp of the
// component `ranks`), and no more: it carries numbers of messages, knows no matching and copies no data.
//
//   weft::modelled_nodes all("cluster-2x4");
//   all.run([](void* self, unsigned node) { ... weft::runtime rt; all.join(node, rt); ... all.leave(node); }, self);
//
// Same machine, program and seed: the same times, bit for bit. Who: one thread, for everything; the programs of all
// nodes are on it, each on a stack of its own.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include <cstddef>
#include <cstdint>

namespace weft {

class runtime;

class modelled_nodes {
 public:
  // `machine`: as options::machine says it, with a [network]. `change`: as options::model.change; nullptr: WEFT_CHANGE.
  // nodes: the first so many of them, 0: all. Errors: weft::error for a machine that is none, or has no network, or
  // fewer nodes.
  explicit modelled_nodes(const char* machine, unsigned nodes = 0, const char* change = nullptr);
  ~modelled_nodes();
  modelled_nodes(const modelled_nodes&) = delete;
  modelled_nodes& operator=(const modelled_nodes&) = delete;

  [[nodiscard]] unsigned size() const noexcept;
  [[nodiscard]] const char* machine() const noexcept;

  // What a message costs beside its way, in picoseconds and bytes.
  struct costs {
    std::uint64_t send_ps, receive_ps, eager_bytes;
  };
  [[nodiscard]] costs of_a_message() const noexcept;
  // Of a control message, without what cores do.
  [[nodiscard]] std::uint64_t latency_ps(unsigned from, unsigned to) const;

  // Who is told of what has come. Called between the turns of nodes: it may note things and call look(), no more.
  struct receiver {
    virtual void arrived(std::uint64_t message, std::uint64_t at_ps) noexcept = 0;
    // All nodes wait, and nothing is on its way. Returns whether it has called look() for some because of that; if not,
    // they are told one after the other that they wait for nothing, by the waits of their runtimes.
    [[nodiscard]] virtual bool stalled() noexcept = 0;

   protected:
    ~receiver() = default;
  };
  // Calls program(with, node) for each node, and returns when all have returned. A runtime that one makes without
  // saying on which machine is on a node of this. Errors: programs may throw nothing. Once in the life of this.
  void run(void (*program)(void* with, unsigned node), void* with, receiver& to);

  // --- by the program of that node, or its tasks

  // rt is the node's: its time is the common one until leave(), and it may be asked for what has come
  // (weft::poll_while_idle). Errors: weft::error for a runtime on real cores, or whose schedule is not by time.
  void join(unsigned node, runtime& rt);
  void leave(unsigned node) noexcept;
  // On the calling core's clock.
  [[nodiscard]] std::uint64_t now_ps(unsigned node) const noexcept;
  // The calling core computes so long.
  void spend_ps(unsigned node, std::uint64_t ps) noexcept;
  // Message number `message` leaves at that time, which is not before the calling core's. receiver::arrived is told
  // when its last byte is there. from != to. Returns when that would be if nothing else were on its way.
  std::uint64_t send(std::uint64_t message, unsigned from, unsigned to, std::uint64_t bytes, std::uint64_t at_ps);

  // --- by all of these, and by the receiver

  // At that time something is there that the node has to look for; ~0: nothing is. One a node: the last that was said.
  void look(unsigned node, std::uint64_t at_ps) noexcept;

  // What the network's links have carried until now: for reports.
  struct links {
    std::uint64_t full_ps_most = 0;  // of the one that was full for longest
    std::uint32_t longest_full = 0;  // its number: twice a node's, or that and one; or beyond all nodes'
  };
  [[nodiscard]] links busiest() const noexcept;

 private:
  struct inside;
  inside* inside_;
};

}  // namespace weft
