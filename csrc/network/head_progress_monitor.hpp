// The heads of the input VCs of a partition, watched for some that do not move.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "network/partition_state.hpp"

namespace dragonfly {

// An input VC of any partition.
struct InputVcId {
  std::uint32_t partition = kNil;
  std::uint32_t input_vc = kNil;
  [[nodiscard]] bool exists() const noexcept { return partition != kNil; }
  bool operator==(const InputVcId&) const = default;
};

class HeadProgressMonitor {
 public:
  explicit HeadProgressMonitor(const PartitionState& of) : of_{of} {}

  // Remembers which packets head the input VCs; returns whether some of them are the same as at the last
  // call, which was at least the time of the watchdog ago.
  [[nodiscard]] bool note_heads();
  // Whether the head of an input VC has not moved.
  [[nodiscard]] bool unmoved(std::uint32_t input_vc) const { return unmoved_[input_vc]; }
  // The input VC that must make room before an unmoved head can move; none if there is no such.
  [[nodiscard]] InputVcId waits_for(std::uint32_t input_vc) const;
  [[nodiscard]] std::string describe_head(std::uint32_t input_vc) const;
  [[nodiscard]] std::uint32_t num_input_vcs() const noexcept {
    return static_cast<std::uint32_t>(of_.input_vcs.size());
  }
  // A count that rises whenever a packet moves.
  [[nodiscard]] std::uint64_t movements() const;
  // unmoved_ is worked out anew by note_heads().
  void archive(Archive& archive) { archive(noted_heads_); }

 private:
  const PartitionState& of_;
  std::vector<std::uint64_t> noted_heads_;  // [input VC], at the last call of note_heads()
  std::vector<bool> unmoved_;               // [input VC]
};

}  // namespace dragonfly
