#include "inject.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <new>
#include <string_view>

extern "C" {  // of glibc, behind the names that are defined here
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}

namespace faults {

namespace {

constexpr auto kinds = static_cast<std::size_t>(call::count);
std::atomic<long> calls[kinds];
std::atomic<bool> armed{false};
std::atomic<long> live{0};
plan now;

// Whether this call is to fail.
[[nodiscard]] bool fails(call which) noexcept {
  if (!armed.load(std::memory_order_acquire)) return false;
  const long n = calls[static_cast<std::size_t>(which)].fetch_add(1, std::memory_order_relaxed) + 1;
  return which == now.which && (now.from_on ? n >= now.k : n == now.k);
}

[[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment = 0) noexcept {
  if (fails(call::memory)) return nullptr;
  void* const at = alignment == 0 ? __libc_malloc(bytes) : __libc_memalign(alignment, bytes);
  if (at != nullptr) live.fetch_add(1, std::memory_order_relaxed);
  return at;
}
[[nodiscard]] void* allocate_or_throw(std::size_t bytes, std::size_t alignment = 0) {
  void* const at = allocate(bytes, alignment);
  if (at == nullptr) throw std::bad_alloc();
  return at;
}
void release(void* at) noexcept {
  if (at == nullptr) return;
  live.fetch_sub(1, std::memory_order_relaxed);
  __libc_free(at);
}

// Whether the code at `from` takes it for granted that malloc gives something: hwloc reads what it did not get, and so
// does what the C library calls for it. Only those who promise to do without are tried: this project, SQLite, C++.
[[nodiscard]] bool copes(const void* from) noexcept {
  Dl_info in{};
  if (::dladdr(from, &in) == 0 || in.dli_fname == nullptr) return true;
  const std::string_view file = in.dli_fname;
  for (const char* const unable : {"libhwloc", "libc.so", "libudev", "libxml2", "ld-linux"})
    if (file.find(unable) != std::string_view::npos) return false;
  return true;
}
[[nodiscard]] bool malloc_fails(const void* from) noexcept {
  return armed.load(std::memory_order_acquire) && copes(from) && fails(call::malloc);
}

// The function that would be called if there were none here; Tag: another type for each. No static variable that is
// initialized at its first use: where two threads come to that at once, one waits by syscall(), which is one of these.
template <class Function, class Tag> [[nodiscard]] Function* next(const char* name, Tag) noexcept {
  static constinit std::atomic<Function*> known{nullptr};
  Function* found = known.load(std::memory_order_relaxed);
  if (found == nullptr) {
    found = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
    known.store(found, std::memory_order_relaxed);
  }
  return found;
}

template <class Result> [[nodiscard]] Result refuse(int error, Result result) noexcept {
  errno = error;
  return result;
}

}  // namespace

void arm(const plan& p) noexcept {
  now = p;
  for (std::atomic<long>& c : calls) c.store(0, std::memory_order_relaxed);
  armed.store(true, std::memory_order_release);
}
void disarm() noexcept { armed.store(false, std::memory_order_release); }
long counted(call which) noexcept { return calls[static_cast<std::size_t>(which)].load(std::memory_order_relaxed); }
long live_blocks() noexcept { return live.load(std::memory_order_relaxed); }

}  // namespace faults

using faults::call;
using faults::fails;

void* operator new(std::size_t n) { return faults::allocate_or_throw(n); }
void* operator new[](std::size_t n) { return faults::allocate_or_throw(n); }
void* operator new(std::size_t n, std::align_val_t a) {
  return faults::allocate_or_throw(n, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t n, std::align_val_t a) {
  return faults::allocate_or_throw(n, static_cast<std::size_t>(a));
}
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return faults::allocate(n); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return faults::allocate(n); }
void* operator new(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return faults::allocate(n, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return faults::allocate(n, static_cast<std::size_t>(a));
}
void operator delete(void* at) noexcept { faults::release(at); }
void operator delete[](void* at) noexcept { faults::release(at); }
void operator delete(void* at, std::size_t) noexcept { faults::release(at); }
void operator delete[](void* at, std::size_t) noexcept { faults::release(at); }
void operator delete(void* at, std::align_val_t) noexcept { faults::release(at); }
void operator delete[](void* at, std::align_val_t) noexcept { faults::release(at); }
void operator delete(void* at, std::size_t, std::align_val_t) noexcept { faults::release(at); }
void operator delete[](void* at, std::size_t, std::align_val_t) noexcept { faults::release(at); }
void operator delete(void* at, const std::nothrow_t&) noexcept { faults::release(at); }
void operator delete[](void* at, const std::nothrow_t&) noexcept { faults::release(at); }
void operator delete(void* at, std::align_val_t, const std::nothrow_t&) noexcept { faults::release(at); }
void operator delete[](void* at, std::align_val_t, const std::nothrow_t&) noexcept { faults::release(at); }

extern "C" {

void* malloc(std::size_t n) {
  return faults::malloc_fails(__builtin_return_address(0)) ? faults::refuse<void*>(ENOMEM, nullptr) : __libc_malloc(n);
}
void* calloc(std::size_t n, std::size_t each) {
  if (faults::malloc_fails(__builtin_return_address(0))) return faults::refuse<void*>(ENOMEM, nullptr);
  return __libc_calloc(n, each);
}
void* realloc(void* at, std::size_t n) {
  if (faults::malloc_fails(__builtin_return_address(0))) return faults::refuse<void*>(ENOMEM, nullptr);
  return __libc_realloc(at, n);
}
void free(void* at) { __libc_free(at); }
void* memalign(std::size_t a, std::size_t n) {
  if (faults::malloc_fails(__builtin_return_address(0))) return faults::refuse<void*>(ENOMEM, nullptr);
  return __libc_memalign(a, n);
}
void* aligned_alloc(std::size_t a, std::size_t n) {
  if (faults::malloc_fails(__builtin_return_address(0))) return faults::refuse<void*>(ENOMEM, nullptr);
  return __libc_memalign(a, n);
}
int posix_memalign(void** at, std::size_t a, std::size_t n) {
  *at = faults::malloc_fails(__builtin_return_address(0)) ? nullptr : __libc_memalign(a, n);
  return *at == nullptr ? ENOMEM : 0;
}

void* mmap(void* at, std::size_t n, int protection, int flags, int file, off_t from) {
  const auto real = faults::next<decltype(mmap)>("mmap", [] {});
  return fails(call::map) ? faults::refuse(ENOMEM, MAP_FAILED) : real(at, n, protection, flags, file, from);
}
int mprotect(void* at, std::size_t n, int protection) {
  const auto real = faults::next<decltype(mprotect)>("mprotect", [] {});
  return fails(call::protect) ? faults::refuse(ENOMEM, -1) : real(at, n, protection);
}
int madvise(void* at, std::size_t n, int advice) {
  const auto real = faults::next<decltype(madvise)>("madvise", [] {});
  return fails(call::protect) ? faults::refuse(EINVAL, -1) : real(at, n, advice);
}
int pthread_create(pthread_t* thread, const pthread_attr_t* with, void* (*entry)(void*), void* argument) {
  const auto real = faults::next<decltype(pthread_create)>("pthread_create", [] {});
  return fails(call::thread) ? EAGAIN : real(thread, with, entry, argument);
}

// A wait may end early for a signal, or find the word changed; a wake of a word that is there does not fail.
long syscall(long number, ...) {
  const auto real = faults::next<long(long, long, long, long, long, long, long)>("syscall", [] {});
  std::va_list list;
  va_start(list, number);
  long a[6];
  for (long& x : a) x = va_arg(list, long);
  va_end(list);
  const bool waits = number == SYS_futex && (a[1] & FUTEX_CMD_MASK) == FUTEX_WAIT;
  if (waits && fails(call::futex)) return faults::refuse(EINTR, -1L);
  if (number == SYS_membarrier && fails(call::barrier)) return faults::refuse(ENOSYS, -1L);
  return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int open(const char* path, int flags, ...) {
  const auto real = faults::next<int(const char*, int, mode_t)>("open", [] {});
  std::va_list list;
  va_start(list, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(list, mode_t) : 0;
  va_end(list);
  return fails(call::open) ? faults::refuse(EMFILE, -1) : real(path, flags, mode);
}
ssize_t write(int file, const void* from, std::size_t n) {
  const auto real = faults::next<decltype(write)>("write", [] {});
  return fails(call::write) ? faults::refuse(ENOSPC, ssize_t{-1}) : real(file, from, n);
}
ssize_t pwrite(int file, const void* from, std::size_t n, off_t at) {
  const auto real = faults::next<decltype(pwrite)>("pwrite", [] {});
  return fails(call::write) ? faults::refuse(ENOSPC, ssize_t{-1}) : real(file, from, n, at);
}
int fsync(int file) {
  const auto real = faults::next<decltype(fsync)>("fsync", [] {});
  return fails(call::sync) ? faults::refuse(EIO, -1) : real(file);
}
int fdatasync(int file) {
  const auto real = faults::next<decltype(fdatasync)>("fdatasync", [] {});
  return fails(call::sync) ? faults::refuse(EIO, -1) : real(file);
}
int rename(const char* from, const char* to) {
  const auto real = faults::next<decltype(rename)>("rename", [] {});
  return fails(call::rename) ? faults::refuse(EXDEV, -1) : real(from, to);
}
// The names of the same for large files, which the system's headers give to some callers.
void* mmap64(void* at, std::size_t n, int protection, int flags, int file, off_t from) {
  return mmap(at, n, protection, flags, file, from);
}
int open64(const char* path, int flags, ...) {
  std::va_list list;
  va_start(list, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(list, mode_t) : 0;
  va_end(list);
  return open(path, flags, mode);
}
ssize_t pwrite64(int file, const void* from, std::size_t n, off_t at) { return pwrite(file, from, n, at); }

}  // extern "C"
