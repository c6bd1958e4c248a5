#include "traffic/workload.hpp"

#include <cassert>
#include <utility>

namespace dragonfly {

Workload::Workload(std::uint32_t num_hosts, std::vector<Job> jobs)
    : jobs_{std::move(jobs)}, places_(num_hosts), first_operation_{0} {
  for (std::uint32_t job = 0; job < jobs_.size(); ++job) {
    const std::vector<std::uint32_t>& hosts = jobs_[job].hosts;
    for (std::uint32_t task = 0; task < hosts.size(); ++task) {
      assert(hosts[task] < num_hosts && !places_[hosts[task]].exists());
      places_[hosts[task]] = {.job = job, .task = task};
    }
    const Program& program = *jobs_[job].program;
    first_operation_.push_back(first_operation_.back() + program.num_operations());
    total_packets_ += program.total_packets();
    task_bytes_ += program.task_bytes() * hosts.size();
  }
}

}  // namespace dragonfly
