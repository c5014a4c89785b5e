// Where the pools get their memory from, a chunk or several at a time: the pages of this computer, laid on its nodes,
// or for a modelled machine plain address space, of which the pools alone know which node it stands for.
#pragma once
#include <cstdint>
#include <optional>

#include "memory/pages.hpp"

namespace weft::memory {

inline constexpr std::uint64_t chunk_bytes = std::uint64_t{2} << 20;  // a large page of most machines
inline constexpr std::uint64_t source_unit_bytes = 65'536;            // of the largest small pages that there are

// Who: any thread calls any of these.
class page_source {
 public:
  page_source() = default;
  page_source(const page_source&) = delete;
  page_source& operator=(const page_source&) = delete;
  virtual ~page_source() = default;

  // Memory for a node, at a multiple of chunk_bytes, that nobody has touched; nullptr if the system refuses.
  // `bytes` is a multiple of source_unit_bytes.
  [[nodiscard]] virtual void* take(std::uint64_t bytes, unsigned node) noexcept = 0;
  // All of what take() returned, or chunks of it.
  virtual void give_back(void* begin, std::uint64_t bytes) noexcept = 0;
  // The pages are as if nobody had touched them.
  virtual void forget(void* begin, std::uint64_t bytes) noexcept = 0;
  // Whether pages may lie on other nodes than they were taken for, so that node_of() is worth its call of the system.
  [[nodiscard]] virtual bool tells() const noexcept = 0;
  // The node that has the page; nothing if it was never touched.
  [[nodiscard]] virtual std::optional<unsigned> node_of(const void* p) const noexcept = 0;
};

class host_pages final : public page_source {
 public:
  // `computer` outlives this.
  host_pages(const host& computer, bool large) noexcept : computer_(computer), large_(large) {}
  [[nodiscard]] void* take(std::uint64_t bytes, unsigned node) noexcept override;
  void give_back(void* begin, std::uint64_t bytes) noexcept override;
  void forget(void* begin, std::uint64_t bytes) noexcept override;
  [[nodiscard]] bool tells() const noexcept override { return computer_.nodes() > 1; }
  [[nodiscard]] std::optional<unsigned> node_of(const void* p) const noexcept override { return computer_.node_of(p); }

 private:
  const host& computer_;
  bool large_;
};

// Nothing is promised of it: it may be larger than memory is, as long as it is not touched.
class address_space final : public page_source {
 public:
  [[nodiscard]] void* take(std::uint64_t bytes, unsigned node) noexcept override;
  void give_back(void* begin, std::uint64_t bytes) noexcept override;
  void forget(void* begin, std::uint64_t bytes) noexcept override;
  [[nodiscard]] bool tells() const noexcept override { return false; }
  [[nodiscard]] std::optional<unsigned> node_of(const void*) const noexcept override { return {}; }
};

}  // namespace weft::memory
