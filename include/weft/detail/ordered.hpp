// What an ordered section and its executors say to each other. An executor is one way to run the same bodies; the
// header weft/ordered.hpp names them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

namespace weft {

class ordered_context;
class runtime;
struct ordered_counts;
struct ordered_options;

namespace detail {

// A call of a body that is still to come. It is bytes: it may be copied, kept and thrown away anywhere, and two with
// the same bytes are the same call.
struct ordered_call {
  static constexpr std::size_t room = 48;  // bytes of arguments, the body's own included
  void (*run)(ordered_context& x, std::uint64_t timestamp, const std::byte* arguments);
  std::uint64_t timestamp;
  std::uint32_t bytes;      // of arguments that are used; those behind are 0
  std::uint32_t arguments;  // how many there are: an architecture has registers for so many
  std::uint64_t object;     // the first of them, or its first 8 bytes: what the call is about
  alignas(16) std::byte argument[room];
};

// What a body asks of the executor that runs it. Who: the thread that runs the body.
class ordered_hooks {
 public:
  virtual void load(const void* from, void* to, std::size_t bytes) = 0;
  virtual void store(void* to, const void* from, std::size_t bytes) = 0;
  // The same for 8 bytes at a multiple of 8.
  [[nodiscard]] virtual std::uint64_t load_word(const void* from) {
    std::uint64_t value;
    load(from, &value, sizeof value);
    return value;
  }
  virtual void store_word(void* to, std::uint64_t value) { store(to, &value, sizeof value); }
  // Where nobody else runs, or what both load and store do is undone if somebody stored between them.
  [[nodiscard]] virtual bool exchange_if(void* at, const void* expected, const void* value, std::size_t bytes) {
    std::byte now[8];
    load(at, now, bytes);
    const bool same = __builtin_memcmp(now, expected, bytes) == 0;
    if (same) store(at, value, bytes);
    return same;
  }
  virtual void read_only(const void* at, std::size_t bytes) = 0;
  virtual void work(std::uint64_t instructions) = 0;
  virtual void create(const ordered_call& call) = 0;
  [[nodiscard]] virtual void* allocate(std::size_t bytes, std::size_t alignment) = 0;
  virtual void release(void* at, std::size_t bytes, std::size_t alignment) = 0;
  virtual void serialize() = 0;

 protected:
  ~ordered_hooks() = default;
};

template <class T> inline constexpr bool is_ordered_word = sizeof(T) == 8 && alignof(T) == 8;

class ordered_executor {
 public:
  virtual ~ordered_executor() = default;
  virtual void create(const ordered_call& call) = 0;  // a root
  // Runs all calls and those that they create. Errors: what the first body in order threw; the calls behind it are
  // dropped, as if they had never been created.
  virtual void run() = 0;
  [[nodiscard]] virtual ordered_counts counts() const = 0;

  std::string_view name;  // by which it was chosen
};

[[nodiscard]] ordered_executor* make_ordered(runtime& rt, const ordered_options& options);  // the caller deletes it
[[noreturn]] void throw_back_in_time(std::uint64_t now, std::uint64_t asked);               // weft::error
[[noreturn]] void throw_section_runs(const char* what);                                     // weft::error

// The arguments of a call, one behind the other as a struct has them.
template <class... Parts> struct packed;
template <> struct packed<> {};
template <class First, class... Rest> struct packed<First, Rest...> {
  First first;
  [[no_unique_address]] packed<Rest...> rest;
};
template <class First, class... Rest>
void put(packed<First, Rest...>* at, const First& first, const Rest&... rest) noexcept {
  if constexpr (!std::is_empty_v<First>)  // the byte of an object without members has no value
    __builtin_memcpy(static_cast<void*>(&at->first), &first, sizeof first);  // what is between parts stays 0
  if constexpr (sizeof...(Rest) != 0) put(&at->rest, rest...);
}
template <class... Rest> [[nodiscard]] std::uint64_t object_of(const Rest&...) noexcept { return 0; }
template <class First, class... Rest>
[[nodiscard]] std::uint64_t object_of(const First& first, const Rest&...) noexcept {
  std::uint64_t bytes = 0;
  __builtin_memcpy(&bytes, &first, sizeof first < sizeof bytes ? sizeof first : sizeof bytes);
  return bytes;
}
template <class Function, class First, class... Rest, class... Before>
void call_with(const packed<First, Rest...>& all, Function&& function, const Before&... before) {
  if constexpr (sizeof...(Rest) == 0)
    function(before..., all.first);
  else
    call_with(all.rest, function, before..., all.first);
}

template <class Body, class... Arguments>
[[nodiscard]] ordered_call make_call(std::uint64_t timestamp, Body body, Arguments... arguments) noexcept {
  using all = packed<Body, Arguments...>;
  static_assert(std::is_trivially_copyable_v<Body> && (std::is_trivially_copyable_v<Arguments> && ...),
                "weft: a call that waits for its turn is kept as bytes: what it captures and its arguments must be "
                "numbers, pointers or structs of these; name larger things by a pointer");
  static_assert(sizeof(all) <= ordered_call::room && alignof(all) <= 16,
                "weft: an ordered call has room for 48 bytes of arguments; name larger things by a pointer");
  ordered_call call{};
  call.run = [](ordered_context& x, std::uint64_t now, const std::byte* bytes) {
    call_with(*reinterpret_cast<const all*>(bytes), [&](const Body& b, const Arguments&... a) {
      Body copy = b;
      copy(x, now, a...);
    });
  };
  call.timestamp = timestamp;
  call.bytes = sizeof(all);
  call.arguments = sizeof...(Arguments);
  call.object = object_of(arguments...);
  put(reinterpret_cast<all*>(call.argument), body, arguments...);
  return call;
}

}  // namespace detail
}  // namespace weft
