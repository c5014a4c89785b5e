// Runs a program to which the kernel refuses some system calls, as containers and sandboxes do:
//   refuse ERROR CALL,CALL... PROGRAM ARGUMENT...      ERROR: EPERM or ENOSYS
// Status 2: it cannot do so here.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct name {
  std::string_view text;
  unsigned number;
};
constexpr name names[] = {
    {"clone3", SYS_clone3},
    {"get_mempolicy", SYS_get_mempolicy},
    {"getcpu", SYS_getcpu},
    {"madvise", SYS_madvise},
    {"mbind", SYS_mbind},
    {"membarrier", SYS_membarrier},
    {"move_pages", SYS_move_pages},
    {"perf_event_open", SYS_perf_event_open},
    {"prctl", SYS_prctl},
    {"prlimit64", SYS_prlimit64},
    {"sched_getaffinity", SYS_sched_getaffinity},
    {"sched_setaffinity", SYS_sched_setaffinity},
    {"sched_setscheduler", SYS_sched_setscheduler},
    {"set_mempolicy", SYS_set_mempolicy},
    {"setpriority", SYS_setpriority},
    {"statx", SYS_statx},
    {"sysinfo", SYS_sysinfo},
    {"uname", SYS_uname},
};

[[nodiscard]] const name* find(std::string_view text) noexcept {
  for (const name& n : names)
    if (n.text == text) return &n;
  return nullptr;
}

[[nodiscard]] std::vector<sock_filter> filter(std::string_view calls, unsigned error) {
  std::vector<sock_filter> all{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  while (!calls.empty()) {
    const std::string_view one = calls.substr(0, calls.find(','));
    calls.remove_prefix(one.size() + (one.size() < calls.size() ? 1 : 0));
    const name* const n = find(one);
    if (n == nullptr) {
      std::fprintf(stderr, "refuse: no such call is known here: %s\n", std::string(one).c_str());
      return {};
    }
    all.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, n->number, 0, 1));
    all.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error));
  }
  all.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view error = argc > 1 ? argv[1] : "";
  if (argc < 4 || (error != "EPERM" && error != "ENOSYS")) {
    std::fputs("usage: refuse EPERM|ENOSYS CALL,CALL... PROGRAM ARGUMENT...\n", stderr);
    return 2;
  }
  std::vector<sock_filter> all = filter(argv[2], error == "EPERM" ? EPERM : ENOSYS);
  if (all.empty()) return 2;
  const sock_fprog program{static_cast<unsigned short>(all.size()), all.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    std::perror("refuse");
    return 2;
  }
  ::execv(argv[3], argv + 3);
  std::perror(argv[3]);
  return 2;
}
