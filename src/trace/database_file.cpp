#include "trace/database_file.hpp"

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace weft::trace {

namespace {

constexpr const char* vfs_name = "weft-descriptor";

struct open_file {
  sqlite3_file base;  // first, as SQLite wants it
  int descriptor;
  int failed;  // errno of the first call that failed
};
[[nodiscard]] int descriptor_of(sqlite3_file* f) noexcept { return reinterpret_cast<open_file*>(f)->descriptor; }

int keep(sqlite3_file* f, int result) noexcept {
  int& failed = reinterpret_cast<open_file*>(f)->failed;
  if (failed == 0) failed = errno;
  return result;
}

int close_file(sqlite3_file*) { return SQLITE_OK; }

int read_file(sqlite3_file* f, void* to, int bytes, sqlite3_int64 from) {
  char* at = static_cast<char*>(to);
  auto left = static_cast<std::size_t>(bytes);
  while (left != 0) {
    const ssize_t n = ::pread(descriptor_of(f), at, left, from);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return keep(f, SQLITE_IOERR_READ);
    if (n == 0) break;
    at += n;
    from += n;
    left -= static_cast<std::size_t>(n);
  }
  std::memset(at, 0, left);  // as SQLite wants it
  return left == 0 ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

int write_file(sqlite3_file* f, const void* from, int bytes, sqlite3_int64 to) {
  const char* at = static_cast<const char*>(from);
  auto left = static_cast<std::size_t>(bytes);
  while (left != 0) {
    const ssize_t n = ::pwrite(descriptor_of(f), at, left, to);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return keep(f, n < 0 && errno == ENOSPC ? SQLITE_FULL : SQLITE_IOERR_WRITE);
    at += n;
    to += n;
    left -= static_cast<std::size_t>(n);
  }
  return SQLITE_OK;
}

int truncate_file(sqlite3_file* f, sqlite3_int64 bytes) {
  return ::ftruncate(descriptor_of(f), bytes) == 0 ? SQLITE_OK : keep(f, SQLITE_IOERR_TRUNCATE);
}
int sync_file(sqlite3_file* f, int) { return ::fsync(descriptor_of(f)) == 0 ? SQLITE_OK : keep(f, SQLITE_IOERR_FSYNC); }
int size_of_file(sqlite3_file* f, sqlite3_int64* bytes) {
  struct stat what {};
  if (::fstat(descriptor_of(f), &what) != 0) return keep(f, SQLITE_IOERR_FSTAT);
  *bytes = what.st_size;
  return SQLITE_OK;
}

int lock_file(sqlite3_file*, int) { return SQLITE_OK; }
int ask_lock(sqlite3_file*, int* locked) {
  *locked = 0;
  return SQLITE_OK;
}
int control_file(sqlite3_file* f, int what, void* answer) {
  if (what != SQLITE_FCNTL_LAST_ERRNO) return SQLITE_NOTFOUND;
  *static_cast<int*>(answer) = reinterpret_cast<open_file*>(f)->failed;
  return SQLITE_OK;
}
int sector_bytes(sqlite3_file*) { return 4096; }
int device_traits(sqlite3_file*) { return SQLITE_IOCAP_UNDELETABLE_WHEN_OPEN; }

// A file that has no name is one for sorting; it is the other VFS's.
int open_file_by_number(sqlite3_vfs* vfs, const char* name, sqlite3_file* f, int flags, int* out_flags) {
  if (name == nullptr) {
    auto* const other = static_cast<sqlite3_vfs*>(vfs->pAppData);
    return other->xOpen(other, name, f, flags, out_flags);
  }
  static const sqlite3_io_methods methods{.iVersion = 1,
                                          .xClose = close_file,
                                          .xRead = read_file,
                                          .xWrite = write_file,
                                          .xTruncate = truncate_file,
                                          .xSync = sync_file,
                                          .xFileSize = size_of_file,
                                          .xLock = lock_file,
                                          .xUnlock = lock_file,
                                          .xCheckReservedLock = ask_lock,
                                          .xFileControl = control_file,
                                          .xSectorSize = sector_bytes,
                                          .xDeviceCharacteristics = device_traits,
                                          .xShmMap = nullptr,
                                          .xShmLock = nullptr,
                                          .xShmBarrier = nullptr,
                                          .xShmUnmap = nullptr,
                                          .xFetch = nullptr,
                                          .xUnfetch = nullptr};
  auto* const opened = reinterpret_cast<open_file*>(f);
  opened->base.pMethods = &methods;
  opened->descriptor = std::atoi(name);
  opened->failed = 0;
  if (out_flags != nullptr) *out_flags = flags;
  return SQLITE_OK;
}

int full_name(sqlite3_vfs*, const char* name, int bytes, char* full) {
  std::snprintf(full, static_cast<std::size_t>(bytes), "%s", name);
  return SQLITE_OK;
}
int nothing_beside(sqlite3_vfs*, const char*, int, int* found) {
  *found = 0;
  return SQLITE_OK;
}

// Errors: nullptr, SQLite cannot begin.
sqlite3_vfs* our_vfs() {
  static sqlite3_vfs ours = [] {
    sqlite3_vfs v{};
    sqlite3_vfs* const other = sqlite3_vfs_find(nullptr);
    if (other == nullptr) return v;
    v = *other;
    v.pNext = nullptr;
    v.pAppData = other;
    v.zName = vfs_name;
    v.szOsFile = std::max<int>(other->szOsFile, sizeof(open_file));
    v.xOpen = open_file_by_number;
    v.xFullPathname = full_name;
    v.xAccess = nothing_beside;
    return v;
  }();
  if (ours.xOpen == nullptr || sqlite3_vfs_register(&ours, 0) != SQLITE_OK) return nullptr;  // again: nothing new
  return &ours;
}

}  // namespace

int open_database(int descriptor, sqlite3** opened) {
  *opened = nullptr;
  if (our_vfs() == nullptr) return SQLITE_NOMEM;
  const std::string name = std::to_string(descriptor);
  return sqlite3_open_v2(name.c_str(), opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                         vfs_name);
}

}  // namespace weft::trace
