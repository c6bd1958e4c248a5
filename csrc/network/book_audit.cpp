#include "network/book_audit.hpp"

#include <sstream>

namespace dragonfly {

std::string BookAudit::check_inside() const {
  std::ostringstream report;
  std::uint64_t counted = partition_.under_way_to_hosts();
  of_.wheel_.for_each(PartitionState::kArrival, [&](std::uint32_t) { ++counted; });
  for (const InputVc& input : of_.input_vcs_) {
    std::uint32_t length = 0;
    for (std::uint32_t i = input.head; i != kNil; i = of_.packets_[i].next) ++length;
    if (length != input.queued) {
      report << "\n  router " << of_.first_router_ + input.router << " input VC " << input.index << " counts "
             << input.queued << " packets and holds " << length;
    }
    counted += length;
  }
  for (std::uint32_t id = 0; id < of_.num_outputs_; ++id) {
    const OutputPort& output = of_.outputs_[id];
    std::uint32_t queued = 0;
    std::uint32_t occupancy = 0;
    for (std::uint32_t vc = 0; vc < output.vcs; ++vc) {
      const VcQueue& queue = of_.queues_[id * of_.plan_.queue_stride + vc];
      std::uint32_t length = 0;
      for (std::uint32_t i = queue.queued > 0 ? queue.head : kNil; i != kNil; i = of_.packets_[i].next)
        ++length;
      if (length != queue.queued) {
        report << "\n  router " << of_.first_router_ + id / of_.radix_ << " port " << id % of_.radix_
               << " VC " << vc << " counts " << queue.queued << " packets and holds " << length;
      }
      const bool sendable = length > 0 && (queue.credits > 0 || !of_.needs_credit(output));
      if (sendable != ((output.sendable >> vc & 1U) != 0)) {
        report << "\n  router " << of_.first_router_ + id / of_.radix_ << " port " << id % of_.radix_
               << " VC " << vc << " is " << (sendable ? "not " : "") << "marked as one that may send";
      }
      queued += length;
      const std::uint32_t in_use = static_cast<std::uint32_t>(queue.buffer) - queue.credits;
      occupancy +=
          of_.plan_.shared_output && output.link_class != LinkClass::kHost ? in_use : length + in_use;
    }
    if (queued != output.queued || occupancy != output.occupancy) {
      report << "\n  router " << of_.first_router_ + id / of_.radix_ << " port " << id % of_.radix_
             << " counts " << output.queued << " queued, occupancy " << output.occupancy << "; holds "
             << queued << ", " << occupancy;
    }
    counted += queued;
  }
  if (counted != of_.in_network_) {
    report << "\n  partition " << of_.index_ << " counts " << of_.in_network_ << " packets and holds "
           << counted;
  }
  return report.str();
}

// Adds, per sender of every partition, the credits that are in use as seen from here: credits on
// their way back and packets on the wire or in the input buffer.
void BookAudit::count_credits(std::span<const Mailbox> outboxes,
                              std::span<std::vector<std::uint32_t>> use) const {
  const std::uint32_t stride = of_.plan_.queue_stride;
  const auto add = [&](std::uint32_t partition, std::uint32_t sender, std::uint32_t vc) {
    ++use[partition][std::size_t{sender} * stride + vc];
  };
  of_.wheel_.for_each(PartitionState::kCredit, [&](std::uint32_t item) {
    add(of_.index_, item >> PartitionState::kVcBits, item & 15U);
  });
  of_.wheel_.for_each(PartitionState::kArrival, [&](std::uint32_t packet) { count_arriving(packet, use); });
  for (const InputVc& input : of_.input_vcs_) {
    const InputPort& port = of_.inputs_[input.router * of_.radix_ + input.port];
    if (port.upstream == kNil) continue;  // nothing is connected there
    use[port.upstream_partition][std::size_t{port.upstream} * stride + input.vc] += input.queued;
  }
  for (std::size_t to = 0; to < outboxes.size(); ++to) {
    for (const Mailbox::Item& credit : outboxes[to].credits) {
      add(static_cast<std::uint32_t>(to), credit.item >> PartitionState::kVcBits, credit.item & 15U);
    }
  }
  if (of_.plan_.shared_output) {  // credits are taken when the packet enters the output queue
    for (std::uint32_t id = 0; id < of_.num_outputs_; ++id) {
      if (of_.outputs_[id].link_class == LinkClass::kHost) continue;
      for (std::uint32_t vc = 0; vc < of_.outputs_[id].vcs; ++vc) {
        for (std::uint32_t n = 0; n < of_.queues_[id * stride + vc].queued; ++n) add(of_.index_, id, vc);
      }
    }
  }
}

// A packet on the wire towards an input VC of this partition.
void BookAudit::count_arriving(std::uint32_t packet, std::span<std::vector<std::uint32_t>> use) const {
  const InputVc& input = of_.input_vcs_[of_.packets_[packet].next];
  const InputPort& port = of_.inputs_[input.router * of_.radix_ + input.port];
  ++use[port.upstream_partition][std::size_t{port.upstream} * of_.plan_.queue_stride + input.vc];
}

std::string BookAudit::compare_credits(const std::vector<std::uint32_t>& use) const {
  std::ostringstream report;
  const std::uint32_t stride = of_.plan_.queue_stride;
  for (std::uint32_t id = 0; id < of_.num_outputs_; ++id) {
    for (std::uint32_t vc = 0; vc < of_.outputs_[id].vcs; ++vc) {
      const VcQueue& queue = of_.queues_[id * stride + vc];
      const std::uint32_t believed = static_cast<std::uint32_t>(queue.buffer) - queue.credits;
      if (believed == use[std::size_t{id} * stride + vc]) continue;
      report << "\n  router " << of_.first_router_ + id / of_.radix_ << " port " << id % of_.radix_ << " VC "
             << vc << " has " << believed << " credits in use, found " << use[std::size_t{id} * stride + vc];
    }
  }
  for (std::uint32_t host = 0; host < of_.num_hosts_; ++host) {
    const std::uint32_t believed = of_.plan_.input_buffer[0] - partition_.host_credits(host);
    const std::uint32_t found = use[std::size_t{of_.num_outputs_ + host} * stride];
    if (believed != found) {
      report << "\n  host " << of_.first_host_ + host << " has " << believed << " credits in use, found "
             << found;
    }
  }
  return report.str();
}

}  // namespace dragonfly
