// Checks of the network's invariants, for tests: between windows all counts must agree.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "network/partition_state.hpp"

namespace dragonfly {

// Counts of one partition.
class InvariantCheck {
 public:
  explicit InvariantCheck(const PartitionState& of) : of_{of} {}

  // Describes a mismatch inside the partition; empty: none. Precondition: no event of the past is left.
  [[nodiscard]] std::string check_inside() const;

  // Counts of credits across partitions: CreditsInUse collects, per sender of each partition, the
  // credits in use as counted at the packets and credits themselves; compare_credits() then compares them
  // with the senders' own counts.
  struct CreditsInUse {
    std::vector<std::uint32_t> of_ports;  // [Credit::item]
    std::vector<std::uint32_t> of_hosts;  // [host]
  };
  [[nodiscard]] CreditsInUse none_in_use() const;
  void count_credits(std::span<CreditsInUse> use) const;
  // A packet on the wire towards an input VC of this partition.
  void count_arriving(std::uint32_t input_vc, std::span<CreditsInUse> use) const;
  [[nodiscard]] std::string compare_credits(const CreditsInUse& use) const;

 private:
  [[nodiscard]] std::uint32_t length(std::uint32_t head, std::uint32_t tail) const;
  void count_places(std::uint32_t input_vc, std::uint32_t packets, std::span<CreditsInUse> use) const;
  [[nodiscard]] std::string name_of(std::uint32_t port_id) const;
  template <class Visit>
  void for_each_port(Visit visit) const;

  const PartitionState& of_;
};

}  // namespace dragonfly
