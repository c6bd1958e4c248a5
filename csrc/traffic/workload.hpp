// Closed-loop traffic of a whole system: jobs side by side, each a program on some of the hosts.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "traffic/program.hpp"

namespace dragonfly {

// [lane]: the policy of its packets. 0: the policy of the run, i > 0: the i-th of the jobs' policies.
using JobPolicies = std::array<std::uint8_t, kLanes>;

struct Job {
  ProgramPtr program;
  std::vector<std::uint32_t> hosts;  // [task], no host twice
  TimePs start_ps = 0;
  JobPolicies policies{};
};

// Const after construction: may be called from any thread. A host without a task sends the messages of the
// open-loop source.
class Workload {
 public:
  struct Place {
    std::uint32_t job = kNone;
    std::uint32_t task = 0;
    [[nodiscard]] bool exists() const noexcept { return job != kNone; }
  };

  // Precondition: every job has a program and its hosts, below `num_hosts`, and no two jobs share a host.
  Workload(std::uint32_t num_hosts, std::vector<Job> jobs);

  [[nodiscard]] std::uint32_t num_hosts() const noexcept {
    return static_cast<std::uint32_t>(places_.size());
  }
  [[nodiscard]] const Place& place_of(std::uint32_t host) const noexcept { return places_[host]; }
  [[nodiscard]] std::uint32_t host_of(std::uint32_t job, std::uint32_t task) const noexcept {
    return jobs_[job].hosts[task];
  }
  [[nodiscard]] std::span<const Job> jobs() const noexcept { return jobs_; }
  // Operations of all jobs are in one row: those of a job from here on.
  [[nodiscard]] std::uint32_t first_operation(std::uint32_t job) const noexcept {
    return first_operation_[job];
  }
  [[nodiscard]] std::uint32_t num_operations() const noexcept { return first_operation_.back(); }
  // Whether some job ends: a run with endless jobs alone goes on for ever.
  [[nodiscard]] bool ends() const noexcept {
    return std::ranges::any_of(jobs_, [](const Job& job) { return !job.program->is_endless(); });
  }
  // Packets of all messages of all jobs that end, from start to end.
  [[nodiscard]] std::uint64_t total_packets() const noexcept { return total_packets_; }
  // Memory that all tasks take together, about.
  [[nodiscard]] std::uint64_t task_bytes() const noexcept { return task_bytes_; }

 private:
  static constexpr std::uint32_t kNone = 0xffff'ffffU;

  std::vector<Job> jobs_;
  std::vector<Place> places_;                   // [host]
  std::vector<std::uint32_t> first_operation_;  // [job], and one more
  std::uint64_t total_packets_ = 0;
  std::uint64_t task_bytes_ = 0;
};

}  // namespace dragonfly
