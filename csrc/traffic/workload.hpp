// Closed-loop traffic of a whole system: jobs side by side, each a program on some of the hosts.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "traffic/program.hpp"

namespace dragonfly {

struct Job {
  ProgramPtr program;
  std::vector<std::uint32_t> hosts;  // [task], no host twice
};

// Const after construction: may be asked from any thread. A host without a task sends what the open-loop
// source says.
class Workload {
 public:
  struct Place {
    std::uint32_t job = kNone;
    std::uint32_t task = 0;
    [[nodiscard]] bool exists() const noexcept { return job != kNone; }
  };

  // Precondition: every job has a program and its hosts, below `num_hosts`, and no two jobs share one.
  Workload(std::uint32_t num_hosts, std::vector<Job> jobs);

  [[nodiscard]] const Place& place_of(std::uint32_t host) const noexcept { return places_[host]; }
  [[nodiscard]] std::uint32_t host_of(std::uint32_t job, std::uint32_t task) const noexcept {
    return jobs_[job].hosts[task];
  }
  [[nodiscard]] std::span<const Job> jobs() const noexcept { return jobs_; }
  // Of all messages of all jobs from start to end.
  [[nodiscard]] std::uint64_t total_packets() const noexcept { return total_packets_; }
  // Memory that all tasks take together, about.
  [[nodiscard]] std::uint64_t task_bytes() const noexcept { return task_bytes_; }

 private:
  static constexpr std::uint32_t kNone = 0xffff'ffffU;

  std::vector<Job> jobs_;
  std::vector<Place> places_;  // [host]
  std::uint64_t total_packets_ = 0;
  std::uint64_t task_bytes_ = 0;
};

}  // namespace dragonfly
