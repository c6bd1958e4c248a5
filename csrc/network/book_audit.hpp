// Looking for broken bookkeeping. For tests: at any instant between windows the books must balance.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "network/partition.hpp"

namespace dragonfly {

// Of one partition.
class BookAudit {
 public:
  explicit BookAudit(const Partition& partition) : partition_{partition}, of_{partition} {}

  // What does not agree inside the partition, or an empty string. Precondition: no event that is past is
  // left.
  [[nodiscard]] std::string check_inside() const;

  // Bookkeeping of credits across partitions: use[partition][sender * queue_stride + vc] collects the
  // credits in use as seen from where packets and credits are; compare_credits() then compares them
  // with what the senders believe.
  [[nodiscard]] std::size_t num_senders() const noexcept { return of_.num_outputs_ + of_.num_hosts_; }
  void count_credits(std::span<const Mailbox> outboxes, std::span<std::vector<std::uint32_t>> use) const;
  void count_arriving(std::uint32_t packet, std::span<std::vector<std::uint32_t>> use) const;
  [[nodiscard]] std::string compare_credits(const std::vector<std::uint32_t>& use) const;

 private:
  const Partition& partition_;
  const PartitionState& of_;
};

}  // namespace dragonfly
