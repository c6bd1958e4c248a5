// What is counted of closed-loop messages: one per partition, merged exactly.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/histogram.hpp"

namespace dragonfly {

struct MessageRecord {
  std::uint64_t sent = 0;       // given to a source queue
  std::uint64_t delivered = 0;  // complete at their destination
  std::int64_t latency_ps = 0;  // from the one to the other
  std::int64_t latency_min_ps = INT64_MAX;
  std::int64_t latency_max_ps = 0;
  LatencyHistogram latencies;  // in units of DeliveryRecord::kHistogramShift

  void clear() {
    sent = delivered = 0;
    latency_ps = latency_max_ps = 0;
    latency_min_ps = INT64_MAX;
    latencies.clear();
  }
  void merge(const MessageRecord& other) {
    sent += other.sent;
    delivered += other.delivered;
    latency_ps += other.latency_ps;
    latency_min_ps = std::min(latency_min_ps, other.latency_min_ps);
    latency_max_ps = std::max(latency_max_ps, other.latency_max_ps);
    latencies.merge(other.latencies);
  }
};

}  // namespace dragonfly
