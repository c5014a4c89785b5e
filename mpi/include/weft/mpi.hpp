// Ranks that are processes, by MPI. A header alone: it is compiled with the program's own MPI. Build with the target
// weft::mpi, which `find_package(weft COMPONENTS mpi)` brings, or with mpicxx and -lweft-ranks -lweft.
//
//   weft::mpi_transport net;             // initialises MPI if nobody has
//   weft::runtime rt;
//   weft::cluster w(rt, net);
//
// All calls of MPI are made by one thread at a time, so MPI_THREAD_SERIALIZED is enough. A program that calls MPI
// itself while there are ranks needs MPI_THREAD_MULTIPLE, and must ask for it before.
#pragma once
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "weft/cluster.hpp"

namespace weft {

class mpi_transport final : public transport {
 public:
  // Longer messages go in parts; MPI counts in int.
  static constexpr std::size_t part_bytes_max = std::size_t{1} << 30;

  // The ranks of `of`, which is duplicated. Errors: weft::error if MPI is there, but not for several threads.
  explicit mpi_transport(MPI_Comm of = MPI_COMM_WORLD, std::size_t part_bytes = part_bytes_max)
      : part_bytes_(std::clamp<std::size_t>(part_bytes, 1, part_bytes_max)) {
    int is_there = 0, level = 0;
    MPI_Initialized(&is_there);
    if (is_there == 0) {
      MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level);
      initialised_ = true;
    }
    MPI_Query_thread(&level);
    if (level < MPI_THREAD_SERIALIZED)
      throw error("weft: MPI was initialised for one thread alone; call MPI_Init_thread with MPI_THREAD_SERIALIZED");
    MPI_Comm_dup(of, &comm_);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
    void* limit = nullptr;
    int found = 0;
    MPI_Comm_get_attr(comm_, MPI_TAG_UB, &limit, &found);
    tag_limit_ = found != 0 ? *static_cast<int*>(limit) : 32767;
  }
  // Ends MPI if this has begun it. If something is left on its way that MPI cannot take back, all ranks are ended, for
  // nobody could wait for it.
  ~mpi_transport() override {
    if (!requests_.empty()) {
      std::fprintf(stderr, "weft: rank %d ends all ranks: %s\n", rank_, why_.c_str());
      MPI_Abort(comm_, 1);
    }
    MPI_Comm_free(&comm_);
    if (initialised_) MPI_Finalize();
  }
  mpi_transport(const mpi_transport&) = delete;
  mpi_transport& operator=(const mpi_transport&) = delete;

  [[nodiscard]] int rank() const noexcept override { return rank_; }
  [[nodiscard]] int size() const noexcept override { return size_; }
  [[nodiscard]] int tag_limit() const noexcept override { return tag_limit_; }

  void post(message& m) override {
    const std::size_t parts = m.bytes == 0 || m.shorter ? 1 : (m.bytes + part_bytes_ - 1) / part_bytes_;
    m.parts = parts;
    for (std::size_t i = 0; i < parts; ++i) post_part(m, i);
  }

  [[nodiscard]] message* progress() override {
    if (requests_.empty()) return nullptr;
    const int count = static_cast<int>(requests_.size());
    done_.resize(requests_.size());
    statuses_.resize(requests_.size());
    int over = 0;
    const int rc = MPI_Testsome(count, requests_.data(), &over, done_.data(), statuses_.data());
    if (over == MPI_UNDEFINED || (over == 0 && rc == MPI_SUCCESS)) return nullptr;
    message* first = nullptr;
    message** last = &first;
    int failed = rc == MPI_ERR_IN_STATUS ? MPI_SUCCESS : rc;
    for (int i = 0; i < over; ++i) {
      const auto at = static_cast<std::size_t>(done_[static_cast<std::size_t>(i)]);
      const MPI_Status& s = statuses_[static_cast<std::size_t>(i)];
      if (rc == MPI_ERR_IN_STATUS && s.MPI_ERROR != MPI_SUCCESS) failed = s.MPI_ERROR;
      message& m = *owners_[at];
      if (!m.sends) note_received(m, s);
      owners_[at] = nullptr;
      if (--m.parts != 0) continue;
      m.next = nullptr;
      *last = &m;
      last = &m.next;
    }
    if (failed != MPI_SUCCESS) check(failed);
    remove_done();
    return first;
  }

  void leave(const char* why) noexcept override {
    why_ = why != nullptr ? why : "it ends with messages on their way";
    // What is small leaves at once, unless somebody is gone.
    const double until = MPI_Wtime() + 0.2;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      if (requests_[i] == MPI_REQUEST_NULL) owners_[i] = nullptr;
      if (owners_[i] == nullptr) continue;
      int over = 0;
      if (!owners_[i]->sends) MPI_Cancel(&requests_[i]);
      do
        if (MPI_Test(&requests_[i], &over, MPI_STATUS_IGNORE) != MPI_SUCCESS) break;
      while (over == 0 && MPI_Wtime() < until);
      if (over != 0) owners_[i] = nullptr;
    }
    remove_done();
  }

 private:
  // An empty part says that there are no data; where there are none to send, one byte goes.
  void post_part(message& m, std::size_t i) {
    const std::size_t begin = i * part_bytes_;
    const std::size_t n = m.shorter ? m.bytes : std::min(m.bytes - begin, part_bytes_);
    void* const at = n == 0 ? static_cast<void*>(&nothing_) : static_cast<std::byte*>(m.data) + begin;
    const int count = m.sends && m.spoiled ? 0 : static_cast<int>(std::max<std::size_t>(n, 1));
    MPI_Request r = MPI_REQUEST_NULL;
    check(m.sends ? MPI_Isend(at, count, MPI_BYTE, m.peer, m.tag, comm_, &r)
                  : MPI_Irecv(at, count, MPI_BYTE, m.peer, m.tag, comm_, &r));
    requests_.push_back(r);
    owners_.push_back(&m);
  }
  void note_received(message& m, const MPI_Status& s) {
    int count = 0;
    MPI_Get_count(&s, MPI_BYTE, &count);
    if (count == 0) m.spoiled = true;
    const std::size_t n = static_cast<std::size_t>(count);
    if (m.shorter)
      m.bytes = n;
    else if (!m.spoiled && n != std::min(m.bytes, part_bytes_) && n != (m.bytes - 1) % part_bytes_ + 1 && m.bytes != 0)
      throw error("weft: rank " + std::to_string(rank_) + " expects " + std::to_string(m.bytes) +
                  " bytes from rank " + std::to_string(m.peer) + ", which has sent " + std::to_string(n));
  }
  // Those that are over have no owner any more.
  void remove_done() noexcept {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      if (owners_[i] == nullptr) continue;
      requests_[kept] = requests_[i];
      owners_[kept++] = owners_[i];
    }
    requests_.resize(kept);
    owners_.resize(kept);
  }
  static void check(int rc) {
    if (rc == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(rc, text, &length);
    throw error("weft: MPI says: " + std::string(text));
  }

  std::size_t part_bytes_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1, tag_limit_ = 0;
  bool initialised_ = false;
  char nothing_ = 0;
  std::string why_;
  std::vector<MPI_Request> requests_;  // and of what each is; nullptr: over
  std::vector<message*> owners_;
  std::vector<int> done_;
  std::vector<MPI_Status> statuses_;
};

}  // namespace weft
