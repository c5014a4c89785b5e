// Ids of rows, which any table may have, as indices, which are references here (reader.hpp).
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "database.hpp"
#include "reader.hpp"

namespace weft::tool::trace {

// From the ids of a table to the indices of its vector, which is sorted by id; nearly always that is a subtraction.
class id_map {
 public:
  template <class Row> void fill(std::vector<Row>& all, database& db, const char* table) {
    const auto less = [](const Row& a, const Row& b) { return a.id < b.id; };
    if (!std::is_sorted(all.begin(), all.end(), less)) std::sort(all.begin(), all.end(), less);
    ids_.clear();
    for (const Row& r : all) {
      if (!ids_.empty() && ids_.back() == r.id)
        db.fail(std::string("table ") + table + " has the id " + std::to_string(r.id) +
                " twice; it is no trace of Weft");
      ids_.push_back(r.id);
    }
  }
  [[nodiscard]] index find(std::int64_t id) const noexcept {
    if (ids_.empty() || id < ids_.front() || id > ids_.back()) return none;
    const auto offset = static_cast<std::uint64_t>(id) - static_cast<std::uint64_t>(ids_.front());
    if (offset < ids_.size() && ids_[offset] == id) return static_cast<index>(offset);
    const auto at = std::lower_bound(ids_.begin(), ids_.end(), id);
    return *at == id ? static_cast<index>(at - ids_.begin()) : none;
  }

 private:
  std::vector<std::int64_t> ids_;
};

}  // namespace weft::tool::trace
