// Looking for packets that are stuck, and for broken bookkeeping.
#include <sstream>

#include "network/partition.hpp"

namespace dragonfly {

bool Partition::note_heads(Tick now) {
  // What changes whenever the head of a buffer moves: the grant counter of that buffer.
  constexpr std::uint64_t kEmpty = ~std::uint64_t{0};
  const bool first = noted_heads_.empty();
  noted_heads_.resize(input_vcs_.size(), kEmpty);
  unmoved_.assign(input_vcs_.size(), false);
  bool any = false;
  for (std::size_t i = 0; i < input_vcs_.size(); ++i) {
    const InputVc& input = input_vcs_[i];
    const bool empty = input.head == kNil;
    const std::uint64_t head =
        empty ? kEmpty : std::uint64_t{input.last_served} << 32 | packets_[input.head].source_host;
    unmoved_[i] = !first && !empty && noted_heads_[i] == head &&
                  packets_[input.head].arrived <= now - plan_.timing.watchdog;
    any = any || unmoved_[i];
    noted_heads_[i] = head;
  }
  return any;
}

std::uint64_t Partition::movements() const {
  std::uint64_t sum = injected_ever_ + delivered_ever_;
  for (const RouterState& router : routers_) sum += router.served;
  return sum;
}

// A head waits for the crossbar or for space in the output queue. It is for sure not the only thing
// that waits if that space comes with a credit: then the buffer downstream has to move first.
InputVcId Partition::waits_for(std::uint32_t input_vc) const {
  const InputVc& input = input_vcs_[input_vc];
  if (!unmoved_[input_vc] || input.state != HeadState::kWaiting) return {};
  const std::uint32_t output_id = input.router * radix_ + input.out_port;
  const OutputPort& output = outputs_[output_id];
  const VcQueue& queue = queues_[output_id * plan_.queue_stride + input.out_vc];
  if (output.link_class == LinkClass::kHost || queue.credits > 0) return {};
  return {output.peer_partition, output.peer + input.out_vc};
}

std::string Partition::describe_head(std::uint32_t input_vc) const {
  const InputVc& input = input_vcs_[input_vc];
  const Packet& packet = packets_[input.head];
  std::ostringstream text;
  text << "packet " << packet.number << " of host " << packet.source_host << " to host "
       << packet.destination_host << ", " << int{packet.hops} << " hops, at router "
       << first_router_ + input.router << " port " << input.port << " VC " << int{packet.vc} << " since "
       << static_cast<double>(plan_.to_ps(packet.arrived)) / 1000.0 << " ns";
  if (input.state != HeadState::kDeciding) {
    const std::uint32_t output_id = input.router * radix_ + input.out_port;
    const VcQueue& queue = queues_[output_id * plan_.queue_stride + input.out_vc];
    text << ", waits for port " << input.out_port << " VC " << int{input.out_vc} << " (" << queue.queued
         << " packets queued there, " << queue.credits << " of " << queue.buffer << " credits)";
  }
  return text.str();
}

std::string Partition::check_invariants() const {
  std::ostringstream report;
  std::uint64_t counted = late_.size();
  wheel_.for_each(kArrival, [&](std::uint32_t) { ++counted; });
  if (programs_ != nullptr) {
    wheel_.for_each(kHost, [&](std::uint32_t item) { counted += (item & kDeliveryBit) != 0 ? 1 : 0; });
  }
  for (const InputVc& input : input_vcs_) {
    std::uint32_t length = 0;
    for (std::uint32_t i = input.head; i != kNil; i = packets_[i].next) ++length;
    if (length != input.queued) {
      report << "\n  router " << first_router_ + input.router << " input VC " << input.index << " counts "
             << input.queued << " packets and holds " << length;
    }
    counted += length;
  }
  for (std::uint32_t id = 0; id < num_outputs_; ++id) {
    const OutputPort& output = outputs_[id];
    std::uint32_t queued = 0;
    std::uint32_t occupancy = 0;
    for (std::uint32_t vc = 0; vc < output.vcs; ++vc) {
      const VcQueue& queue = queues_[id * plan_.queue_stride + vc];
      std::uint32_t length = 0;
      for (std::uint32_t i = queue.queued > 0 ? queue.head : kNil; i != kNil; i = packets_[i].next) ++length;
      if (length != queue.queued) {
        report << "\n  router " << first_router_ + id / radix_ << " port " << id % radix_ << " VC " << vc
               << " counts " << queue.queued << " packets and holds " << length;
      }
      const bool sendable = length > 0 && (queue.credits > 0 || !needs_credit(output));
      if (sendable != ((output.sendable >> vc & 1U) != 0)) {
        report << "\n  router " << first_router_ + id / radix_ << " port " << id % radix_ << " VC " << vc
               << " is " << (sendable ? "not " : "") << "marked as one that may send";
      }
      queued += length;
      const std::uint32_t in_use = static_cast<std::uint32_t>(queue.buffer) - queue.credits;
      occupancy += plan_.shared_output && output.link_class != LinkClass::kHost ? in_use : length + in_use;
    }
    if (queued != output.queued || occupancy != output.occupancy) {
      report << "\n  router " << first_router_ + id / radix_ << " port " << id % radix_ << " counts "
             << output.queued << " queued, occupancy " << output.occupancy << "; holds " << queued << ", "
             << occupancy;
    }
    counted += queued;
  }
  if (counted != in_network_) {
    report << "\n  partition " << index_ << " counts " << in_network_ << " packets and holds " << counted;
  }
  return report.str();
}

// Adds, per sender of every partition, the credits that are in use as seen from here: credits on
// their way back and packets on the wire or in the input buffer.
void Partition::count_credits(std::span<const Mailbox> outboxes,
                              std::span<std::vector<std::uint32_t>> use) const {
  const std::uint32_t stride = plan_.queue_stride;
  const auto add = [&](std::uint32_t partition, std::uint32_t sender, std::uint32_t vc) {
    ++use[partition][std::size_t{sender} * stride + vc];
  };
  wheel_.for_each(kCredit, [&](std::uint32_t item) { add(index_, item >> kVcBits, item & 15U); });
  wheel_.for_each(kArrival, [&](std::uint32_t packet) { count_arriving(packet, use); });
  for (const InputVc& input : input_vcs_) {
    const InputPort& port = inputs_[input.router * radix_ + input.port];
    if (port.upstream == kNil) continue;  // nothing is connected there
    use[port.upstream_partition][std::size_t{port.upstream} * stride + input.vc] += input.queued;
  }
  for (std::size_t to = 0; to < outboxes.size(); ++to) {
    for (const Mailbox::Item& credit : outboxes[to].credits) {
      add(static_cast<std::uint32_t>(to), credit.item >> kVcBits, credit.item & 15U);
    }
  }
  if (plan_.shared_output) {  // credits are taken when the packet enters the output queue
    for (std::uint32_t id = 0; id < num_outputs_; ++id) {
      if (outputs_[id].link_class == LinkClass::kHost) continue;
      for (std::uint32_t vc = 0; vc < outputs_[id].vcs; ++vc) {
        for (std::uint32_t n = 0; n < queues_[id * stride + vc].queued; ++n) add(index_, id, vc);
      }
    }
  }
}

// A packet on the wire towards an input VC of this partition.
void Partition::count_arriving(std::uint32_t packet, std::span<std::vector<std::uint32_t>> use) const {
  const InputVc& input = input_vcs_[packets_[packet].next];
  const InputPort& port = inputs_[input.router * radix_ + input.port];
  ++use[port.upstream_partition][std::size_t{port.upstream} * plan_.queue_stride + input.vc];
}

std::string Partition::compare_credits(const std::vector<std::uint32_t>& use) const {
  std::ostringstream report;
  const std::uint32_t stride = plan_.queue_stride;
  for (std::uint32_t id = 0; id < num_outputs_; ++id) {
    for (std::uint32_t vc = 0; vc < outputs_[id].vcs; ++vc) {
      const VcQueue& queue = queues_[id * stride + vc];
      const std::uint32_t believed = static_cast<std::uint32_t>(queue.buffer) - queue.credits;
      if (believed == use[std::size_t{id} * stride + vc]) continue;
      report << "\n  router " << first_router_ + id / radix_ << " port " << id % radix_ << " VC " << vc
             << " has " << believed << " credits in use, found " << use[std::size_t{id} * stride + vc];
    }
  }
  for (std::uint32_t host = 0; host < num_hosts_; ++host) {
    const std::uint32_t believed = plan_.input_buffer[0] - hosts_[host].credits;
    const std::uint32_t found = use[std::size_t{num_outputs_ + host} * stride];
    if (believed != found) {
      report << "\n  host " << first_host_ + host << " has " << believed << " credits in use, found "
             << found;
    }
  }
  return report.str();
}

}  // namespace dragonfly
