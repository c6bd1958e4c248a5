#include "network/memory_need.hpp"

#include <unistd.h>

#include <string>

#include "core/error.hpp"
#include "network/partition.hpp"
#include "routing/group_messages.hpp"
#include "routing/observation_writer.hpp"

namespace dragonfly {

namespace {

constexpr std::uint64_t kUnknown = ~std::uint64_t{0};

std::uint64_t machine_memory() noexcept {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page_bytes <= 0) return kUnknown;
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes);
}

std::string gigabytes(std::uint64_t bytes) {
  return std::to_string((bytes + 500'000'000) / 1'000'000'000) + " GB";
}

std::uint64_t bytes_of_trackers(const Blueprint& plan) noexcept {
  std::uint64_t bytes = 0;
  for (const TrackerRequest& request : plan.deciders.trackers) {
    const TrackerInfo& info = *request.info;
    if (info.bytes != nullptr) bytes += info.bytes(plan.topology);
    if (!request.messages || info.message_numbers == nullptr) continue;
    const std::uint32_t vcs = plan.vcs[index_of(plan.global_class)];
    bytes += GroupMessages::bytes(plan.topology, info.message_numbers(plan.topology, vcs));
  }
  return bytes;
}

std::uint64_t bytes_of_observations(const Blueprint& plan) noexcept {
  std::uint64_t bytes = 0;
  const auto add = [&](const ObservationPlan* shown) {
    if (shown != nullptr) bytes += shown->bytes() + ObservationWriter::bytes(*shown);
  };
  add(plan.deciders.outside.get());
  for (const Decider& decider : plan.deciders.policies) add(decider.seen.get());
  if (plan.deciders.background) add(plan.deciders.background->seen.get());
  return bytes;
}

}  // namespace

MemoryNeed memory_need(const Blueprint& plan) noexcept {
  const std::uint64_t routers = plan.topology.num_routers();
  const std::uint64_t hosts = plan.topology.num_hosts();
  const std::uint64_t parts = plan.num_partitions();
  // Ports and input VCs of a router are so many as the next power of two.
  const std::uint64_t port = sizeof(InputPort) + sizeof(InputStall) + sizeof(OutputStall) +
                             plan.queue_stride * sizeof(std::uint16_t) +
                             PartitionState::kDepartures * sizeof(std::uint32_t) +
                             (plan.single_cycle_crossbar ? 0 : 2 * sizeof(Tick));
  const std::uint64_t ports =
      PortBlocks::bytes(plan.topology.radix(), plan.queue_stride) + (port << plan.port_shift);
  const std::uint64_t input_vc = sizeof(InputVc) + 2 * sizeof(std::uint16_t) + sizeof(std::uint32_t);
  const std::uint64_t groups = plan.options.record.group_latency ? plan.topology.num_groups() : 0;
  const std::uint64_t of_hosts =
      plan.options.record.host_latency ? hosts * HostLatencies::bytes_per_host() : 0;
  const std::uint64_t drawn = plan.source.drawn_packets() > 0 ? sizeof(PrefetchedDestinations) : 0;
  const std::uint64_t program =
      plan.workload == nullptr ? 0 : HostPrograms::host_bytes() + plan.workload->task_bytes() / hosts;
  const std::uint64_t tables =
      plan.deciders.learner == nullptr ? 0 : plan.deciders.learner->shape(plan.topology).bytes();
  return {.routers = routers * (ports + (input_vc << plan.input_shift) +
                                (plan.ready_words + 3) * sizeof(std::uint64_t)),
          .hosts = hosts * (sizeof(HostSender) + sizeof(SourceCursor) + sizeof(std::uint64_t) + drawn +
                            sizeof(std::uint32_t) + program),
          .source_queues = hosts * plan.options.source_queue_packets * sizeof(Tick),
          .partitions = parts * (PartitionState::queue_bytes(plan) + sizeof(Partition) + of_hosts +
                                 groups * groups * 2 * sizeof(std::uint64_t)) +
                        parts * parts * 2 * sizeof(std::uint32_t),
          .tables = tables,
          .trackers = bytes_of_trackers(plan),
          .decisions = bytes_of_observations(plan)};
}

void require_memory(const Blueprint& plan) {
  const MemoryNeed need = memory_need(plan);
  const std::uint64_t there = machine_memory();
  if (there == kUnknown || need.total() <= there / 10 * 9) return;
  const std::string allowed = "this network would take " + gigabytes(need.total()) +
                              " of memory, and this machine has " + gigabytes(there);
  if (need.source_queues > need.total() / 2) {
    throw ConfigError{"source_queue_packets", std::to_string(plan.options.source_queue_packets),
                      allowed + "; an unbounded source queue takes none"};
  }
  throw ConfigError{"topology",
                    std::to_string(plan.topology.num_hosts()) + " hosts on " +
                        std::to_string(plan.topology.num_routers()) + " routers",
                    allowed};
}

}  // namespace dragonfly
