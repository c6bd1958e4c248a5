#include "network/watchdog.hpp"

#include <vector>

namespace dragonfly {

namespace {

constexpr std::size_t kMostListed = 8;

// The heads that did not move, as a graph in which each waits for at most one other.
class WaitGraph {
 public:
  explicit WaitGraph(std::span<const HeadProgressMonitor> heads) : heads_{heads} {
    for (const HeadProgressMonitor& partition : heads) seen_.emplace_back(partition.num_input_vcs(), 0U);
  }

  // Heads that wait for each other, or nothing.
  std::vector<InputVcId> circle() {
    for (std::uint32_t part = 0; part < heads_.size(); ++part) {
      for (std::uint32_t i = 0; i < seen_[part].size(); ++i) {
        if (seen_[part][i] != 0) continue;
        ++walk_;
        const InputVcId end = follow({part, i});
        if (end.exists() && seen_at(end) == walk_) return members(end);
      }
    }
    return {};
  }

 private:
  std::uint32_t& seen_at(InputVcId id) { return seen_[id.partition][id.input_vc]; }

  // Goes from head to head until a head moves or was seen before; returns that head, or none.
  InputVcId follow(InputVcId at) {
    while (at.exists() && seen_at(at) == 0) {
      seen_at(at) = walk_;
      at = heads_[at.partition].waits_for(at.input_vc);
    }
    return at;
  }

  std::vector<InputVcId> members(InputVcId first) {
    std::vector<InputVcId> all{first};
    for (InputVcId at = next(first); at != first; at = next(at)) all.push_back(at);
    return all;
  }
  InputVcId next(InputVcId at) const { return heads_[at.partition].waits_for(at.input_vc); }

  std::span<const HeadProgressMonitor> heads_;    // [partition]
  std::vector<std::vector<std::uint32_t>> seen_;  // number of the walk that saw the input VC
  std::uint32_t walk_ = 0;
};

std::vector<InputVcId> all_unmoved(std::span<const HeadProgressMonitor> heads) {
  std::vector<InputVcId> all;
  for (std::uint32_t part = 0; part < heads.size(); ++part) {
    for (std::uint32_t i = 0; i < heads[part].num_input_vcs(); ++i) {
      if (heads[part].unmoved(i)) all.push_back({part, i});
    }
  }
  return all;
}

}  // namespace

void Watchdog::watch(std::span<const Partition> partitions) {
  if (!heads_.empty()) return;
  heads_.reserve(partitions.size());
  for (const Partition& partition : partitions) heads_.emplace_back(partition.state());
}

void Watchdog::archive(Archive& archive, std::span<const Partition> partitions) {
  archive(started_, progress_);
  if (!started_) return;
  watch(partitions);
  for (HeadProgressMonitor& heads : heads_) archive(heads);
}

std::string Watchdog::check(std::span<const Partition> partitions) {
  watch(partitions);
  std::uint64_t progress = 0;
  std::uint64_t in_network = 0;
  bool waiting = false;
  for (HeadProgressMonitor& heads : heads_) {
    waiting = heads.note_heads() || waiting;
    progress += heads.movements();
  }
  for (const Partition& partition : partitions) in_network += partition.in_network();
  const bool standstill = started_ && in_network > 0 && progress == progress_;
  progress_ = progress;
  started_ = true;

  std::vector<InputVcId> stuck;
  if (waiting) stuck = WaitGraph{heads_}.circle();
  std::string report = "packets wait for each other in a circle:";
  if (stuck.empty()) {
    if (!standstill) return {};
    stuck = all_unmoved(heads_);
    report = "nothing moves, and " + std::to_string(in_network) + " packets are in the network:";
  }
  for (std::size_t i = 0; i < stuck.size() && i < kMostListed; ++i) {
    report += "\n  " + heads_[stuck[i].partition].describe_head(stuck[i].input_vc);
  }
  if (stuck.size() > kMostListed)
    report += "\n  ... and " + std::to_string(stuck.size() - kMostListed) + " more";
  return report;
}

}  // namespace dragonfly
