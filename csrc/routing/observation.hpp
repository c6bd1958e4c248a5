// The observation of an agent: a row of numbers per decision, in a layout with names.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "routing/decision_spec.hpp"
#include "routing/features.hpp"
#include "routing/path_columns.hpp"
#include "routing/route_context.hpp"
#include "routing/router_tracker.hpp"
#include "routing/zero_load_times.hpp"
#include "topology/dragonfly.hpp"

namespace dragonfly {

// Buffer sizes that the numbers are scaled by.
struct BufferSizes {
  std::uint32_t output_packets = 0;  // per VC, or per port when shared
  bool shared_output = false;
  std::uint32_t input_packets = 0;                  // largest input buffer of a link between routers, per VC
  std::uint32_t port_packets = 0;                   // largest input buffer of a port, over all its VCs
  std::uint32_t vcs = 1;                            // most of a link
  std::array<float, kMostLinkClasses> packet_ns{};  // one packet on a link of each class
  ZeroLoadTimes times{};
};

// A named block of the row.
struct FeatureBlock {
  std::string name;
  std::string per;  // the meaning of its columns: "port", "decision", "candidate" or "link"
  std::uint32_t offset = 0;
  std::uint32_t width = 0;
  float unit = 1;  // value = quantity / unit; 0: squashed to x / (x + half)
  float half = 0;
  float low = 0;
  float high = 1;
  std::string doc;
};

class ObservationLayout {
 public:
  ObservationLayout(const Dragonfly& topology, const DecisionSpec& spec, std::uint32_t num_candidates,
                    const BufferSizes& buffers, double quantum_ns,
                    const std::vector<TrackerRequest>& trackers);

  [[nodiscard]] std::uint32_t num_features() const noexcept { return num_features_; }
  [[nodiscard]] std::uint32_t num_ports() const noexcept { return num_ports_; }
  [[nodiscard]] const std::vector<FeatureBlock>& blocks() const noexcept { return blocks_; }
  [[nodiscard]] bool counts_traffic() const noexcept { return counts_traffic_; }
  [[nodiscard]] bool shows_minimal() const noexcept { return shows_minimal_; }

  // Null if it is not shown.
  [[nodiscard]] const FeatureBlock* find(const std::string& name) const noexcept;

  // Writes num_features() numbers; the arguments are those of FeatureView. `minimal` is read if
  // shows_minimal(), `recent` if counts_traffic().
  void fill(float* row, const RouteContext& context, const float* minimal, const Candidate* candidates,
            std::uint32_t recent, Tick now) const;

  // The features of the decision alone, one after the other: those of fill() behind the columns of ports.
  void fill_decision(float* columns, const RouteContext& context, std::uint32_t recent,
                     Tick now) const noexcept;
  // The value of one packet at a port, in the unit of occupancies.
  [[nodiscard]] float per_packet(Port port) const noexcept {
    return packet_times_.empty() ? per_packet_ : per_packet_ * packet_times_[port];
  }
  // The most packets that any column counts.
  [[nodiscard]] float most_packets() const noexcept { return most_packets_; }
  [[nodiscard]] const std::vector<float>& link_classes() const noexcept { return link_classes_; }

  // The features of candidate paths alone, as fill() writes them.
  void fill_paths(float* row, const RouteContext& context, const Candidate* candidates) const;

  // The congestion of every port of a router, relative to the buffers: `radix` numbers.
  void fill_state(float* row, const RouterPorts& ports) const noexcept;
  // The largest of these numbers: full output queues, and full buffers of all VCs behind the link.
  [[nodiscard]] float state_high() const noexcept { return state_high_; }

 private:
  static constexpr std::int32_t kOff = -1;

  // A block that shows tracked numbers.
  struct TrackedBlock {
    std::uint32_t offset = 0;
    std::uint32_t width = 0;
    std::uint32_t tracker = 0;  // among those that run
    std::uint32_t field = 0;
    TrackedPer per = TrackedPer::kRouter;
    float scale = 1;
    float half = 0;
    [[nodiscard]] float scaled(float number) const noexcept {
      return half > 0 ? detail::squash(number, half) : number * scale;
    }
  };

  // Columns that show occupancies in time.
  struct TimedBlock {
    std::uint32_t offset = 0;
    std::uint32_t width = 0;
    bool of_candidates = false;
  };

  [[nodiscard]] FeatureSizes sizes_of(OccupancyUnit unit, const BufferSizes& buffers,
                                      const Dragonfly& topology);
  void to_times(float* row, const Candidate* candidates, bool paths_alone) const noexcept;
  void add_tracked(const TrackedFeature& feature, std::uint32_t width,
                   const std::vector<TrackerRequest>& trackers);
  [[nodiscard]] FeatureView view_of(const RouteContext& context, const float* minimal,
                                    const Candidate* candidates, std::uint32_t recent,
                                    Tick now) const noexcept;
  void fill_tracked(float* row, const RouteContext& context) const;
  void fill_tracked_paths(float* row, const RouteContext& context, const Candidate* candidates) const;
  // Columns of a block, from the first of these places on, in its unit.
  static void scale(float* shown, const TrackedBlock& block, std::size_t columns) noexcept;

  std::uint32_t first_port_;
  std::uint32_t num_ports_;
  std::uint32_t radix_;
  std::uint32_t num_candidates_;
  std::uint32_t num_features_ = 0;
  float per_packet_ = 1;
  float most_packets_ = 0;
  float per_buffer_ = 1;  // factor of occupancies that are relative to the buffers
  float state_high_ = 1;
  float per_port_ = 1;
  float per_group_ = 1;
  float quantum_ns_;
  ZeroLoadTimes times_;
  std::vector<FeatureBlock> blocks_;
  std::vector<TrackedBlock> tracked_;
  std::vector<TrackedBlock> tracked_paths_;  // a column per candidate path
  PathColumns::Wanted wanted_{};             // columns that the tracked blocks need
  std::vector<float> link_classes_;
  std::vector<TimedBlock> timed_;
  std::vector<float> packet_times_;  // [port]: one packet, in the unit of occupancies in time
  std::array<std::int32_t, kNumFeatures> offsets_{};  // [row of kFeatures]: first column, or kOff
  bool counts_traffic_ = false;
  bool shows_minimal_ = false;
};

}  // namespace dragonfly
