// Tasks of the C interface. One is a record like any other: this file fills it directly, as builder::submit does,
// because the number of accesses is known only here; registration and everything after it do not know the difference.
// Its closure is {body, argument, failure}, then one pointer per access - known at submission, because the datum of a C
// handle never moves - then the copied argument. So calling a body costs nothing but the call.
#include <exception>

#include "base/printable.hpp"
#include "runtime/c_api.hpp"

namespace weft::c {

static_assert(WEFT_READ == detail::kind_read && WEFT_WRITE == detail::kind_write && WEFT_ADD == detail::kind_add);
static_assert(WEFT_CONCURRENT == detail::kind_concurrent && WEFT_REDUCE == detail::kind_reduce);
static_assert(WEFT_USE == detail::kind_resource);
static_assert(WEFT_READONLY == weft::readonly && WEFT_COMMUTATIVE == weft::commutative &&
              WEFT_EXCLUSIVE == weft::exclusive);

namespace {

[[nodiscard]] weft_handle& handle_of(const detail::access& a) noexcept {
  return static_cast<weft_handle&>(
      *reinterpret_cast<weft::handle_base*>(a.handle_and_kind & detail::handle_address_mask));
}
[[nodiscard]] bool is_reduce(const detail::access& a) noexcept {
  return (a.handle_and_kind & 63u & ~std::uintptr_t{detail::kind_repeated}) == detail::kind_reduce;
}

// --- the task

struct closure {
  weft_body body;
  void* argument;
  std::exception_ptr failure;  // made by weft_fail
  bool reduces;

  [[nodiscard]] void** data() noexcept { return reinterpret_cast<void**>(this + 1); }
};
static_assert(sizeof(closure) % 16 == 0, "a copied argument is aligned to 16");

// Each reduce gets its part for the time of the body. Errors: the body's, then a merge's.
void call_with_parts(detail::record& r, closure& c) {
  detail::engine_base& e = *detail::self_out_of_line()->engine;
  std::exception_ptr failure;
  std::uint32_t taken = 0;
  const auto reduction = [&r](std::uint32_t i) -> reduction_handle& {
    return static_cast<reduction_handle&>(handle_of(r.accesses()[i]));
  };
  try {
    for (; taken < r.access_count; ++taken)
      if (is_reduce(r.accesses()[taken])) c.data()[taken] = reduction(taken).take_part(e);
    c.body(c.argument, c.data());
  } catch (...) {
    failure = std::current_exception();
  }
  for (std::uint32_t i = 0; i < taken; ++i) {
    if (!is_reduce(r.accesses()[i])) continue;
    try {
      reduction(i).give_part(e, c.data()[i]);
    } catch (...) {
      if (failure == nullptr) failure = std::current_exception();
    }
  }
  if (failure != nullptr) std::rethrow_exception(failure);
}

void invoke(detail::record& r, detail::errand what) {
  struct at_end {
    closure& c;
    bool destroys;
    ~at_end() {
      if (destroys) c.~closure();
    }
  } guard{*std::launder(static_cast<closure*>(r.closure())), what != detail::errand::call};
  if (what == detail::errand::destroy) return;
  guard.c.reduces ? call_with_parts(r, guard.c) : guard.c.body(guard.c.argument, guard.c.data());
  if (guard.c.failure != nullptr) std::rethrow_exception(std::move(guard.c.failure));
}

// --- from weft_task to a record

// What the accesses of a task come to.
struct shape {
  std::uint8_t exclusives = 0;  // as record::exclusives
  bool reduces = false;
};

[[nodiscard]] bool is_kind(std::uint32_t kind) noexcept {
  const std::uint32_t flags = kind & 0xff, number = kind >> 8;
  if (number == 0)
    return kind == WEFT_READ || kind == WEFT_WRITE || kind == WEFT_ADD || kind == WEFT_CONCURRENT ||
           kind == WEFT_REDUCE || kind == WEFT_USE;
  return number <= detail::user_types_max && flags <= 7 && (flags & (WEFT_COMMUTATIVE | WEFT_EXCLUSIVE)) != 0;
}

// What is wrong with an access, or nullptr.
[[nodiscard]] const char* complaint(const weft_access& a) noexcept {
  if (a.handle == nullptr) return "has no handle";
  if (!is_kind(a.kind))
    return "is of a kind that does not exist; take one of weft_kind or WEFT_ACCESS_TYPE(1 to 24, flags)";
  if (a.kind == WEFT_REDUCE && a.handle->kind != nature::reduction)
    return "reduces on a handle that weft_reduction_create did not make";
  if ((a.kind == WEFT_USE) != (a.handle->kind == nature::resource))
    return "mixes up handles and resources: WEFT_USE goes with weft_resource_create, and nothing else does";
  if (a.kind != WEFT_USE && a.units != 0) return "has units, which go with WEFT_USE only";
  return nullptr;
}

[[gnu::cold]] [[noreturn]] void refuse(const weft_task& t, std::size_t i, const std::string& why) {
  throw error("weft: access " + std::to_string(i) + " (from 0) of " +
              (t.name != nullptr ? "task '" + base::printable(t.name) + "' " : "a task ") + why);
}

[[nodiscard]] shape check_accesses(const weft_task& t) {
  unsigned exclusives = 0;
  shape s;
  for (std::size_t i = 0; i < t.access_count; ++i) {
    const weft_access& a = t.accesses[i];
    if (const char* why = complaint(a)) [[unlikely]]
      refuse(t, i, why);
    if (a.kind == WEFT_USE && a.units > a.handle->units) [[unlikely]]
      refuse(t, i,
             "asks for " + std::to_string(a.units) + " units of a resource that has " +
                 std::to_string(a.handle->units) + "; it would wait for ever");
    exclusives += a.kind == WEFT_USE ? 2 : (a.kind & 0xff) == WEFT_ADD ? 1 : 0;
    s.reduces |= a.kind == WEFT_REDUCE;
  }
  s.exclusives = static_cast<std::uint8_t>(std::min(exclusives, 2u));
  return s;
}

[[nodiscard]] shape check(const weft_task& t) {
  constexpr std::size_t accesses_max = detail::task_bytes_max / (sizeof(detail::access) + sizeof(void*));
  require(t.body != nullptr, "weft_submit", "the task has no body");
  require(t.accesses != nullptr || t.access_count == 0, "weft_submit", "access_count is not 0, but accesses is NULL");
  require(t.argument != nullptr || t.argument_bytes == 0, "weft_submit",
          "argument_bytes is not 0, but argument is NULL");
  require(t.access_count < accesses_max && t.argument_bytes < detail::task_bytes_max, "weft_submit",
          "a task takes at most 1 MiB, about 43000 accesses; pass large data by pointer or through a handle");
  require((t.flags & ~std::uint32_t{WEFT_PINNED | WEFT_SUBTASKS}) == 0 && t.reserved == 0, "weft_submit",
          "flags has a bit that is no weft_task_flag, or reserved is not 0");
  require(t.priority == 0 || t.priority == 1, "weft_submit", "there are two priorities, 0 and 1, which goes first");
  return check_accesses(t);
}

[[nodiscard]] std::uint64_t picoseconds(double ns) noexcept { return weft::cost(ns).amount; }

void fill(detail::record& r, std::size_t bytes, const weft_task& t, const shape& s) {
  const auto n = static_cast<std::uint32_t>(t.access_count);
  const bool plain = s.exclusives == 0 && !s.reduces && t.priority == 0 && t.flags == 0;
  detail::prepare(r, &invoke, bytes, n, s.exclusives, plain);
  r.name = t.name;
  r.cost_ps = picoseconds(t.cost_ns);
  r.urgent = t.priority == 1;
  r.subtasks = (t.flags & WEFT_SUBTASKS) != 0;
  if ((t.flags & WEFT_PINNED) != 0) r.pin = weft::pin(t.worker).worker;
  auto* c = new (r.closure()) closure{t.body, t.argument, nullptr, s.reduces};
  for (std::uint32_t i = 0; i < n; ++i) {
    const weft_access& a = t.accesses[i];
    const auto kind = detail::kind_bits(static_cast<std::uint8_t>(a.kind), static_cast<std::uint8_t>(a.kind >> 8));
    r.accesses()[i] = {reinterpret_cast<std::uintptr_t>(&a.handle->state()) | kind,
                       a.kind == WEFT_USE ? std::max(a.units, 1u) : 0};
    c->data()[i] = a.handle->data;
  }
  if (t.argument_bytes == 0) return;
  c->argument = c->data() + (n + (n & 1));  // to a multiple of 16
  std::memcpy(c->argument, t.argument, t.argument_bytes);
}

}  // namespace

void submit_task(detail::engine_base& e, const weft_task& t) {
  const shape s = check(t);
  const std::size_t n = t.access_count;
  const std::size_t bytes = sizeof(detail::record) + n * sizeof(detail::access) + sizeof(closure) +
                            (n + (n & 1)) * sizeof(void*) + t.argument_bytes;
  detail::record* r = detail::allocate(e, detail::self(), bytes);
  fill(*r, bytes, t, s);
  const bool directed = r->urgent || r->pin != detail::record::unpinned;
  // Read anew: allocate() may have waited for room, and then this may be another thread.
  if (n == 0 && !directed && detail::enter_fast(e, detail::self(), r)) return;
  e.enter(r);
}

void fail_running_task(const char* message) {
  detail::record* r = running_task();
  require(r != nullptr && r->invoke == &invoke, "weft_fail", "called outside of a body submitted by weft_submit");
  std::exception_ptr& failure = static_cast<closure*>(r->closure())->failure;
  if (failure == nullptr)
    failure =
        std::make_exception_ptr(task_failed(message != nullptr ? message : "weft: a task called weft_fail(NULL)"));
}

}  // namespace weft::c
