// One program on several ranks: every rank submits the same tasks in the same order; the rank that owns what a task
// writes runs it; what it reads from other ranks is sent.
//
//   weft::cluster w(rt, net);
//   weft::cluster_handle<tile> a(w, owner, 256), b(w, other, 256);
//   w.submit(weft::read(a), weft::write(b), [](const tile& x, tile& y) { ... });
//   w.fence();
//
// Handles have versions, which are the same on every rank, so nothing is asked: a rank that will run a reader receives,
// and the rank that ran the writer sends, as tasks among the others. A version is sent once to each rank that needs it
// and kept there until the next write. A task of other ranks costs some nanoseconds: its accesses are noted.
//
// Which rank runs a task: the owner of the first handle that it writes, adds to or uses concurrently; if there is none,
// of the first that it reads. A task that writes two handles of different owners brings the second one over.
// Ranks compare what they submit, by a hash, every 1024 tasks and at each fence. If programs differ, every rank fails
// with the first task that does, and does not hang: page 52 of the guide.
// Who: the thread that made the runtime, outside of tasks, for everything here; inside of one it is weft::error. Bodies
// submit to the runtime itself.
#pragma once
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "weft/ranks.hpp"
#include "weft/weft.hpp"

namespace weft {

class cluster;
template <class T> class cluster_handle;

namespace detail {

class agreement;

// Which ranks have the version that is here. Grows with ranks above 64 only.
class rank_set {
 public:
  [[nodiscard]] bool has(unsigned r) const noexcept {
    return r < 64 ? (low_ >> r & 1) != 0 : high_ != nullptr && (*high_)[r - 64];
  }
  void add(unsigned r, unsigned ranks) {
    if (r < 64)
      low_ |= std::uint64_t{1} << r;
    else if (high_ == nullptr)
      high_ = std::make_unique<std::vector<bool>>(ranks - 64), (*high_)[r - 64] = true;
    else
      (*high_)[r - 64] = true;
  }
  void clear() noexcept {
    low_ = 0;
    high_.reset();
  }

 private:
  std::uint64_t low_ = 0;
  std::unique_ptr<std::vector<bool>> high_;
};

// What a rank knows of a handle. All ranks have the same owner, source and version.
struct cluster_state {
  cluster* of = nullptr;
  std::uint32_t id = 0;
  std::uint32_t version = 0;  // writes submitted so far
  int owner = 0;              // runs what writes it
  int source = 0;             // ran the last write, and sends
  bool held = false;          // this version is here, or on its way here, or its writer is
  rank_set sent;              // to whom, if this rank is the source
  // Submits the task that sends, and the one that receives.
  void (*send)(cluster&, cluster_state&, int to) = nullptr;
  void (*receive)(cluster&, cluster_state&) = nullptr;
  void (*drop)(cluster_state&) = nullptr;  // the copy that is here
  cluster_state* before = nullptr;
  cluster_state* after = nullptr;
};

// A datum that is made where it is needed.
template <class T> class cluster_slot {
 public:
  [[nodiscard]] T& value() noexcept { return *value_; }
  [[nodiscard]] const T& value() const noexcept { return *value_; }
  [[nodiscard]] bool is_there() const noexcept { return value_.has_value(); }
  void drop() noexcept { value_.reset(); }
  std::optional<T> value_;
};

// A clause: the access, and what a rank that runs the task makes of it.
template <class T, std::uint8_t Kind> struct cluster_access {
  cluster_handle<T>& target;
};
template <class Clause> inline constexpr bool is_cluster_access = false;
template <class T, std::uint8_t Kind> inline constexpr bool is_cluster_access<cluster_access<T, Kind>> = true;

template <class X> [[nodiscard]] decltype(auto) datum_of(X&& x) noexcept { return static_cast<X&&>(x); }
template <class T> [[nodiscard]] T& datum_of(cluster_slot<T>& s) noexcept { return s.value(); }
template <class T> [[nodiscard]] const T& datum_of(const cluster_slot<T>& s) noexcept { return s.value(); }

void note_failure(cluster& of, std::uint64_t task, std::exception_ptr why) noexcept;

// Calls the body, and notes which task failed first in the order of the program.
template <class Body> struct cluster_body {
  template <class... Data>
    requires std::is_invocable_v<Body&, decltype(datum_of(std::declval<Data>()))...>
  void operator()(Data&&... data) {
    try {
      static_cast<void>(body(datum_of(static_cast<Data&&>(data))...));
    } catch (...) {
      note_failure(*of, number, std::current_exception());
      throw;
    }
  }
  Body body;
  cluster* of;
  std::uint64_t number;
};

[[nodiscard]] inline std::uint64_t hash_of_text(const char* text) noexcept {
  std::uint64_t h = 0xcbf29ce484222325u;
  for (; *text != 0; ++text) h = (h ^ static_cast<unsigned char>(*text)) * 0x100000001b3u;
  return h;
}
// A number for each type of body, the same on all ranks of one program. Names in full: two lambdas of one function look
// the same but for a number in there.
template <class Body> inline const std::uint64_t number_of_type = hash_of_text(typeid(Body).name());

// What stands of each task until all ranks have compared it.
struct task_note {
  std::uint32_t hash;
  std::uint32_t handle;  // the first that decides who runs it
  const char* name;
};

}  // namespace detail

struct cluster_counts : rank_counts {
  std::uint64_t tasks_here = 0, tasks_elsewhere = 0;
};

class cluster : public ranks {
 public:
  // Every rank makes one. Errors: as ranks.
  cluster(runtime& rt, transport& net);
  // A fence, whose error goes to stderr. While an exception leaves the program: the other ranks fail.
  ~cluster();

  // As runtime::submit: clauses, where handles are cluster handles, and a body.
  // Cost: what runtime::submit costs on the rank that runs it; else a few nanoseconds an access.
  // Errors: as runtime::submit, on the rank that runs it. weft::error for a handle of another cluster.
  template <class... Args> void submit(Args&&... clauses_and_body) {
    submit_rotated(std::make_index_sequence<sizeof...(Args) - 1>{},
                   std::forward_as_tuple(static_cast<Args&&>(clauses_and_body)...));
  }

  // Returns when all tasks of all ranks are done. Errors, on every rank: the exception of the task that is first in the
  // order of the program - as it was thrown where it ran, weft::error with its text elsewhere; then all handles are
  // healed. weft::error if ranks have submitted different tasks, or one has ended: then the cluster is over.
  void fence();
  // The owner of h is another rank from now on, which gets the datum.
  template <class T> void migrate(cluster_handle<T>& h, int owner) { migrate(h.state(), owner); }
  // The datum, on every rank: for use until h is named in the next task. Waits for h. Every rank calls it.
  // Errors: as runtime::get, on ranks that it concerns; a fence says it to all.
  template <class T> [[nodiscard]] const T& get(cluster_handle<T>& h) {
    get(h.state(), h.local());
    return h.local().unguarded().value();
  }
  // This rank's.
  [[nodiscard]] cluster_counts counts() const noexcept;

  // --- for handles

  [[nodiscard]] std::uint32_t enlist(detail::cluster_state& s, int owner);
  void strike(detail::cluster_state& s) noexcept;
  [[nodiscard]] detail::task_flight* fly_next(int peer, bool sends);
 private:
  friend void detail::note_failure(cluster& of, std::uint64_t task, std::exception_ptr why) noexcept;
  friend detail::agreement;
  struct step {
    cluster* of = nullptr;
    detail::cluster_state* decides = nullptr;  // its owner runs the task
    bool writes = false;
    std::uint64_t hash = 0;
    const char* name = nullptr;
  };

  static constexpr std::uint32_t kind_mark = 16;
  template <class T, std::uint8_t Kind> void note(step& s, const detail::cluster_access<T, Kind>& c) const {
    detail::cluster_state& h = c.target.state();
    if (h.of != this) [[unlikely]]
      throw_foreign_handle();
    constexpr bool writes = (Kind & detail::kind_readonly) == 0;
    if (s.decides == nullptr || (writes && !s.writes)) s.decides = &h;
    s.writes |= writes;
    s.hash = (s.hash ^ (h.id * kind_mark + Kind)) * 0x9e3779b97f4a7c15u;
  }
  static void note(step& s, const detail::name_clause& c) noexcept { s.name = c.text; }
  template <class Clause> static void note(step&, const Clause&) noexcept {}

  // Before the task: what the rank that runs it has not got.
  template <class Clause> void bring(int runs, const Clause& c) {
    if constexpr (detail::is_cluster_access<Clause>) {
      detail::cluster_state& h = c.target.state();
      if (runs == rank()) {
        if (!h.held) [[unlikely]]
          receive_version(h);
      } else if (h.source == rank() && !h.sent.has(static_cast<unsigned>(runs))) {
        send_version(h, runs);
      }
    }
  }
  // After it: whoever runs it has what it writes.
  template <class T, std::uint8_t Kind> void settle(int runs, const detail::cluster_access<T, Kind>& c) noexcept {
    if constexpr ((Kind & detail::kind_readonly) == 0) {
      detail::cluster_state& h = c.target.state();
      if (h.source == rank()) h.sent.clear();
      h.source = runs;
      h.held = runs == rank();
      ++h.version;
    }
  }
  template <class Clause> void settle(int, const Clause&) noexcept {}
  template <class T, std::uint8_t Kind> [[nodiscard]] static auto local(const detail::cluster_access<T, Kind>& c) {
    return detail::access_clause<detail::cluster_slot<T>, Kind>{c.target.local()};
  }
  template <class Clause> [[nodiscard]] static const Clause& local(const Clause& c) noexcept { return c; }

  template <std::size_t... I, class All> void submit_rotated(std::index_sequence<I...>, All&& all) {
    submit_at(std::get<sizeof...(I)>(static_cast<All&&>(all)), std::get<I>(all)...);
  }
  template <class Body, class... Clauses> void submit_at(Body&& body, const Clauses&... clauses) {
    using plain_body = std::remove_cvref_t<Body>;
    static_assert((false || ... || detail::is_cluster_access<Clauses>),
                  "weft: a task of a cluster names a cluster handle, which says where it runs");
    step s;
    s.hash = detail::number_of_type<plain_body>;
    (note(s, clauses), ...);
    require_program("submit");
    const int runs = s.decides->owner;
    if (runs == rank()) ++here_;  // keep() may look at both counts
    const std::uint64_t number = keep(s);
    (bring(runs, clauses), ...);
    if (runs == rank()) {
      if (modelled_) [[unlikely]]
        pay_elsewhere();
      on().submit(local(clauses)..., detail::cluster_body<plain_body>{static_cast<Body&&>(body), this, number});
    }
    (settle(runs, clauses), ...);
  }

  // Ranks agree on the order in which the program does these; bodies have none.
  static void require_program(const char* what) {
    if (const detail::worker* w = detail::self(); w != nullptr && w->current != nullptr) [[unlikely]]
      throw_inside_a_task(what);
  }

  // Returns the task's number, from 0.
  std::uint64_t keep(const step& s) {
    const std::uint32_t hash = static_cast<std::uint32_t>(s.hash >> 32);
    notes_[noted_++] = {hash, s.decides != nullptr ? s.decides->id : 0, s.name};
    hash_ = (hash_ ^ hash) * 0x9e3779b97f4a7c15u;
    ++tasks_;
    if (noted_ == compared_each) [[unlikely]]
      compare();
    return tasks_ - 1;
  }

  static constexpr std::uint64_t compared_each = 1024;
  void send_version(detail::cluster_state& h, int to);
  void receive_version(detail::cluster_state& h);
  void migrate(detail::cluster_state& h, int owner);
  void get(detail::cluster_state& h, handle_base& local);
  void compare();
  void pay_elsewhere();
  void drop_copies(bool all) noexcept;
  void note_extra(std::uint64_t what, const detail::cluster_state& h, const char* name);
  [[noreturn]] static void throw_foreign_handle();
  [[noreturn]] static void throw_inside_a_task(const char* what);

  std::uint64_t tasks_ = 0, here_ = 0, hash_ = 0;
  const bool modelled_;
  std::uint64_t paid_elsewhere_ = 0;  // tasks of other ranks, whose notes have taken their modelled time
  std::unique_ptr<detail::task_note[]> notes_;  // of those not compared yet
  std::uint64_t noted_ = 0;
  std::uint32_t handles_ = 0;
  detail::cluster_state* first_ = nullptr;
  struct inside;  // cluster.cpp
  std::unique_ptr<inside> inside_;
  std::unique_ptr<detail::agreement> agreement_;
};

// A datum that one rank owns. Every rank makes it, at the same place of the program and with the same arguments: where
// it is needed it is constructed from them, on the owner at once.
template <class T> class cluster_handle {
 public:
  using value_type = T;
  // Errors: weft::error for an owner that is no rank.
  template <class... Args>
    requires std::is_constructible_v<T, const std::decay_t<Args>&...>
  explicit cluster_handle(cluster& w, int owner, Args&&... args)
      : make_([kept = std::tuple<std::decay_t<Args>...>(static_cast<Args&&>(args)...)](std::optional<T>& to) {
          std::apply([&to](const auto&... a) { to.emplace(a...); }, kept);
        }) {
    state_.of = &w;
    state_.send = [](cluster& all, detail::cluster_state& s, int to) { of(s).send_to(all, to); };
    state_.receive = [](cluster& all, detail::cluster_state& s) { of(s).receive_here(all); };
    state_.drop = [](detail::cluster_state& s) { of(s).local_.unguarded().drop(); };
    state_.id = w.enlist(state_, owner);
    if (state_.held) make_(local_.unguarded().value_);
  }
  cluster_handle(const cluster_handle&) = delete;
  cluster_handle& operator=(const cluster_handle&) = delete;
  ~cluster_handle() { state_.of->strike(state_); }

  [[nodiscard]] int owner() const noexcept { return state_.owner; }
  // For reports; `text` must outlive the handle.
  void name(const char* text) noexcept { local_.name(text); }
  // This rank's datum, unprotected, for set-up before any task uses it; nullptr if it is not here.
  [[nodiscard]] T* unguarded() noexcept {
    return local_.unguarded().is_there() ? &local_.unguarded().value() : nullptr;
  }

  [[nodiscard]] detail::cluster_state& state() noexcept { return state_; }
  [[nodiscard]] handle<detail::cluster_slot<T>>& local() noexcept { return local_; }

 private:
  // The state is the first member.
  static cluster_handle& of(detail::cluster_state& s) noexcept { return reinterpret_cast<cluster_handle&>(s); }
  static std::span<std::byte> bytes(void* self) {
    auto& h = *static_cast<cluster_handle*>(self);
    auto& slot = h.local_.unguarded();
    if (!slot.is_there()) h.make_(slot.value_);
    return wire<T>::of(slot.value());
  }
  void send_to(cluster& w, int to) {
    w.on().submit(detail::access_clause<detail::cluster_slot<T>, detail::kind_read>{local_}, named("send"),
                  priority(1), detail::message_body{{w, w.fly_next(to, true), &bytes, this}});
  }
  void receive_here(cluster& w) {
    w.on().submit(detail::access_clause<detail::cluster_slot<T>, detail::kind_write>{local_}, named("receive"),
                  priority(1), detail::message_body{{w, w.fly_next(state_.source, false), &bytes, this}});
  }

  detail::cluster_state state_;
  std::function<void(std::optional<T>&)> make_;
  handle<detail::cluster_slot<T>> local_;
};

template <class T> [[nodiscard]] auto read(cluster_handle<T>& h) noexcept {
  return detail::cluster_access<T, detail::kind_read>{h};
}
template <class T> [[nodiscard]] auto write(cluster_handle<T>& h) noexcept {
  return detail::cluster_access<T, detail::kind_write>{h};
}
template <class T> [[nodiscard]] auto add(cluster_handle<T>& h) noexcept {
  return detail::cluster_access<T, detail::kind_add>{h};
}
template <class T> [[nodiscard]] auto concurrent(cluster_handle<T>& h) noexcept {
  return detail::cluster_access<T, detail::kind_concurrent>{h};
}

}  // namespace weft
