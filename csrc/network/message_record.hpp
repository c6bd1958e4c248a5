// Counts of closed-loop messages: one record per partition, merged exactly.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/histogram.hpp"
#include "network/slowdown_record.hpp"

namespace dragonfly {

struct MessageRecord {
  std::uint64_t sent = 0;       // begun: given to a source queue, at least in part
  std::uint64_t delivered = 0;  // complete at their destination
  std::int64_t latency_ps = 0;  // sum of the times between the two
  std::int64_t latency_min_ps = INT64_MAX;
  std::int64_t latency_max_ps = 0;
  LatencyHistogram latencies;  // latencies in units of DeliveryRecord::kHistogramShift

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
  void archive(Archive& archive) {
    archive(sent, delivered, latency_ps, latency_min_ps, latency_max_ps, latencies);
  }
};

// An operation of a job, such as its all-reduces: times from begin to end, over all tasks.
struct OperationRecord {
  std::uint64_t count = 0;
  std::int64_t total_ps = 0;
  std::int64_t max_ps = 0;

  void add(std::int64_t took_ps) noexcept {
    ++count;
    total_ps += took_ps;
    max_ps = std::max(max_ps, took_ps);
  }
  void merge(const OperationRecord& other) noexcept {
    count += other.count;
    total_ps += other.total_ps;
    max_ps = std::max(max_ps, other.max_ps);
  }
  void archive(Archive& archive) { archive(count, total_ps, max_ps); }
};

// Progress of a job.
struct JobRecord {
  std::uint32_t unfinished = 0;  // tasks
  std::int64_t last_end = 0;     // time at which the last task finished so far
  std::uint64_t packets_delivered = 0;
  OperationRecord messages;  // messages since the last reset, from their begin to the last bit
  SlowdownRecord slowdowns;  // since the last reset, if they are recorded

  void merge(const JobRecord& other) {
    unfinished += other.unfinished;
    last_end = std::max(last_end, other.last_end);
    packets_delivered += other.packets_delivered;
    messages.merge(other.messages);
    slowdowns.merge(other.slowdowns);
  }
  void archive(Archive& archive) { archive(unfinished, last_end, packets_delivered, messages, slowdowns); }
};

}  // namespace dragonfly
