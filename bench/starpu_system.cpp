// StarPU: a registered variable per cell, a codelet per form of task. Its workers are threads of its own; the thread
// that submits is none of them, so there is one thread more than workers. STARPU_HOME, where it keeps calibration
// files, is a scratch folder for the time of the measurement.
#include <starpu.h>
#include <stdlib.h>

#include <cstring>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <type_traits>

#include "system.hpp"

namespace weft::bench {

namespace {

void demand(int status, const char* what) {
  if (status == 0) return;
  throw std::runtime_error(std::string("starpu: ") + what + " failed with status " + std::to_string(status));
}

class scratch_home {
 public:
  scratch_home() : folder_((std::filesystem::temp_directory_path() / "weft-bench-starpu-XXXXXX").string()) {
    if (mkdtemp(folder_.data()) == nullptr) throw std::runtime_error("cannot make the folder " + folder_);
    setenv("STARPU_HOME", folder_.c_str(), 1);
    setenv("STARPU_SILENT", "1", 0);
  }
  ~scratch_home() {
    std::error_code left_behind;  // in a folder for temporary files: not worth a failure
    std::filesystem::remove_all(folder_, left_behind);
  }
  scratch_home(const scratch_home&) = delete;
  scratch_home& operator=(const scratch_home&) = delete;

 private:
  std::string folder_;
};

class starpu_system {
 public:
  starpu_system(std::size_t cells, const settings& how) : cells_(cells), handles_(cells) {
    starpu_conf conf;
    demand(starpu_conf_init(&conf), "starpu_conf_init");
    conf.ncpus = static_cast<int>(how.workers);
    conf.ncuda = conf.nopencl = 0;
    conf.calibrate = conf.bus_calibrate = 0;
    demand(starpu_init(&conf), "starpu_init");
    if (starpu_cpu_worker_get_count() != how.workers)
      throw not_possible("StarPU takes " + std::to_string(starpu_cpu_worker_get_count()) +
                         " workers at most on this machine");
    for (std::size_t c = 0; c < cells; ++c)
      starpu_variable_data_register(&handles_[c], STARPU_MAIN_RAM, reinterpret_cast<std::uintptr_t>(&cells_[c]),
                                    sizeof(value));
  }
  ~starpu_system() {
    for (starpu_data_handle_t h : handles_) starpu_data_unregister(h);
    starpu_shutdown();
  }
  starpu_system(const starpu_system&) = delete;
  starpu_system& operator=(const starpu_system&) = delete;

  template <class Body> void independent_task(cell_index c, Body body) {
    static starpu_codelet kind = codelet<Body, 0, 0>();
    starpu_task* const t = starpu_task_create();
    t->cl = &kind;
    set_argument(*t, &cells_[c], body);
    demand(starpu_task_submit(t), "starpu_task_submit");
  }

  template <std::size_t R, std::size_t W, class Body>
  void task(const std::array<cell_index, R>& reads, const std::array<cell_index, W>& writes, Body body) {
    static starpu_codelet kind = codelet<Body, R, W>();
    starpu_task* const t = starpu_task_create();
    t->cl = &kind;
    set_argument(*t, nullptr, body);
    for (std::size_t i = 0; i < R; ++i) t->handles[i] = handles_[reads[i]];
    for (std::size_t i = 0; i < W; ++i) t->handles[R + i] = handles_[writes[i]];
    demand(starpu_task_submit(t), "starpu_task_submit");
  }

  void wait() { demand(starpu_task_wait_for_all(), "starpu_task_wait_for_all"); }

  // Data under StarPU's care is looked at after acquiring it.
  [[nodiscard]] value cell(cell_index c) {
    demand(starpu_data_acquire(handles_[c], STARPU_R), "starpu_data_acquire");
    const value v = cells_[c];
    starpu_data_release(handles_[c]);
    return v;
  }

 private:
  // The proving pass numbers its bodies, so they travel with the tasks. In a timed pass all bodies are the same, and
  // the argument is just the cell, if that is not among the data.
  template <class Body> struct argument {
    value* cell;
    Body body;
  };
  template <class Body> static inline Body body_of_pass{};

  template <class Body> static void set_argument(starpu_task& t, value* cell, Body body) {
    if constexpr (Body::looks) {
      static_assert(std::is_trivially_copyable_v<argument<Body>>);
      const argument<Body> content{cell, body};
      t.cl_arg = malloc(sizeof content);
      if (t.cl_arg == nullptr) throw std::bad_alloc();
      std::memcpy(t.cl_arg, &content, sizeof content);
      t.cl_arg_size = sizeof content;
      t.cl_arg_free = 1;
    } else {
      t.cl_arg = cell;
      if constexpr (!std::is_empty_v<Body>) body_of_pass<Body> = body;
    }
  }

  template <class Body, std::size_t R, std::size_t W> static void run(void* buffers[], void* arg) {
    const auto at = [&](std::size_t i) -> value& {
      return *reinterpret_cast<value*>(STARPU_VARIABLE_GET_PTR(static_cast<starpu_variable_interface*>(buffers[i])));
    };
    if constexpr (Body::looks) {
      const auto& [cell, body] = *static_cast<const argument<Body>*>(arg);
      value& written = W == 0 ? *cell : at(R);
      [&]<std::size_t... I>(const Body& b, std::index_sequence<I...>) {
        b(written, at(I)...);
      }(body, std::make_index_sequence<R>{});
    } else {
      body_of_pass<Body>(W == 0 ? *static_cast<value*>(arg) : at(R));
    }
  }

  template <class Body, std::size_t R, std::size_t W> static starpu_codelet codelet() {
    starpu_codelet kind;
    starpu_codelet_init(&kind);
    kind.cpu_funcs[0] = run<Body, R, W>;
    kind.nbuffers = R + W;
    for (std::size_t i = 0; i < R; ++i) kind.modes[i] = STARPU_R;
    for (std::size_t i = R; i < R + W; ++i) kind.modes[i] = STARPU_RW;
    return kind;
  }

  scratch_home home_;
  std::vector<value> cells_;
  std::vector<starpu_data_handle_t> handles_;
};

// Measured: 5 KiB of memory for each live task.
remark remarks(const problem& p, unsigned) {
  constexpr std::uint64_t most = 50'000;
  if (tasks_per_pass(p) <= most) return {};
  return {.tasks_max = most, .text = "starpu: 50000 tasks a pass, for its memory and your time"};
}

std::string version() {
  int major = 0, minor = 0, release = 0;
  starpu_get_version(&major, &minor, &release);
  return "StarPU " + std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
}

}  // namespace

std::vector<system_entry> systems_here() { return {entry_for<starpu_system>("starpu", version(), remarks)}; }

}  // namespace weft::bench
