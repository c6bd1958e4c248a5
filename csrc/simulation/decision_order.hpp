// The order of rows that leave the core: by the id of their decisions. Ids belong to packets and hops, so the
// order depends neither on partitions nor on threads.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "decisions/records.hpp"

namespace dragonfly {

class DecisionOrder {
 public:
  static constexpr std::size_t kAhead = 8;  // rows that readers fetch before they are copied

  // The place of a row.
  struct Row {
    std::int64_t id = 0;
    std::uint32_t partition = 0;
    std::uint32_t index = 0;  // place in the list of that partition
  };

  void clear() noexcept { rows_.clear(); }
  void add(const Row& row) { rows_.push_back(row); }
  // Precondition: hosts are numbered below `num_hosts`, and no id occurs twice.
  void sort(std::uint32_t num_hosts);

  [[nodiscard]] std::size_t size() const noexcept { return rows_.size(); }
  [[nodiscard]] bool empty() const noexcept { return rows_.empty(); }
  [[nodiscard]] const Row& operator[](std::size_t i) const noexcept { return rows_[i]; }
  [[nodiscard]] std::span<const Row> rows() const noexcept { return rows_; }

 private:
  static constexpr std::size_t kFew = 16;

  static void sort_some(std::span<Row> rows) noexcept {
    if (rows.size() > kFew) {
      std::ranges::sort(rows, {}, &Row::id);
      return;
    }
    for (std::size_t i = 1; i < rows.size(); ++i) {
      const Row row = rows[i];
      std::size_t to = i;
      for (; to > 0 && rows[to - 1].id > row.id; --to) rows[to] = rows[to - 1];
      rows[to] = row;
    }
  }

  std::vector<Row> rows_;
  std::vector<Row> sorted_;            // scratch
  std::vector<std::uint32_t> begins_;  // scratch: where the rows of some neighbouring hosts begin
};

// Ids begin with the host. So rows are first distributed by host, to about as many places as there are rows;
// only the few of each place are left to sort.
inline void DecisionOrder::sort(std::uint32_t num_hosts) {
  const std::size_t count = rows_.size();
  if (count <= kFew) return sort_some(rows_);
  const int shift = static_cast<int>(std::bit_width(num_hosts / count));
  const auto place_of = [shift](const Row& row) { return host_of_decision(row.id) >> shift; };
  begins_.assign(((num_hosts - 1) >> shift) + 2, 0);
  for (const Row& row : rows_) ++begins_[place_of(row) + 1];
  for (std::size_t i = 1; i < begins_.size(); ++i) begins_[i] += begins_[i - 1];
  sorted_.resize(count);
  for (const Row& row : rows_) sorted_[begins_[place_of(row)]++] = row;
  std::size_t begin = 0;  // start of a place; each entry of begins_ is now the end of its place
  for (std::size_t i = 0; i + 1 < begins_.size(); ++i) {
    const std::size_t end = begins_[i];
    if (end - begin > 1) sort_some(std::span{sorted_}.subspan(begin, end - begin));
    begin = end;
  }
  rows_.swap(sorted_);
}

}  // namespace dragonfly
