#include "network/invariant_check.hpp"

#include <sstream>

namespace dragonfly {

std::uint32_t InvariantCheck::length(std::uint32_t head, std::uint32_t tail) const {
  if (head == kNil) return 0;
  std::uint32_t length = 1;
  for (std::uint32_t i = head; i != tail; i = of_.store.next[i]) ++length;
  return length;
}

std::string InvariantCheck::name_of(std::uint32_t port_id) const {
  const std::uint32_t router = port_id >> of_.plan.port_shift;
  return "\n  router " + std::to_string(of_.first_router + router) + " port " +
         std::to_string(port_id - of_.port_id(router, 0));
}

template <class Visit>
void InvariantCheck::for_each_port(Visit visit) const {
  for (std::uint32_t router = 0; router < of_.num_routers; ++router) {
    for (std::uint32_t port = 0; port < of_.plan.topology.radix(); ++port) {
      const std::uint32_t id = of_.port_id(router, port);
      visit(id, of_.ports[id]);
    }
  }
}

std::string InvariantCheck::check_inside() const {
  std::ostringstream report;
  std::uint64_t counted = of_.in_flight_to_hosts();
  of_.for_each_arriving([&](std::uint32_t, std::uint32_t) { ++counted; });
  for (const InputVc& input : of_.input_vcs) counted += length(input.head, input.tail);
  for_each_port([&](std::uint32_t id, const OutputPort& output) {
    std::uint32_t queued = 0;
    std::uint32_t occupancy = 0;
    for (std::uint32_t vc = 0; vc < output.vcs; ++vc) {
      const VcQueue& queue = output.queues()[vc];
      const std::uint32_t held = length(queue.queued > 0 ? queue.head : kNil, queue.tail);
      if (held != queue.queued) {
        report << name_of(id) << " VC " << vc << " counts " << queue.queued << " packets and holds " << held;
      }
      const bool sendable = held > 0 && (queue.credits > 0 || !of_.needs_credit(output));
      if (sendable != ((output.sendable >> vc & 1U) != 0)) {
        report << name_of(id) << " VC " << vc << " is " << (sendable ? "not " : "")
               << "marked as one that may send";
      }
      const bool waited = of_.first_waiting[std::size_t{id} * of_.plan.queue_stride + vc] != kNoInputVc;
      if (waited != ((output.waiting >> vc & 1U) != 0)) {
        report << name_of(id) << " VC " << vc << " is " << (waited ? "not " : "")
               << "marked as one that is waited for";
      }
      queued += held;
      const std::uint32_t in_use = of_.buffer_behind(output) - queue.credits;
      occupancy += of_.plan.shared_output && output.link_class != LinkClass::kHost ? in_use : held + in_use;
    }
    if (queued != output.queued || occupancy != output.occupancy) {
      report << name_of(id) << " counts " << output.queued << " queued, occupancy " << output.occupancy
             << "; holds " << queued << ", " << occupancy;
    }
    counted += queued;
  });
  if (counted != of_.in_network) {
    report << "\n  partition " << of_.index << " counts " << of_.in_network << " packets and holds "
           << counted;
  }
  return report.str();
}

InvariantCheck::CreditsInUse InvariantCheck::none_in_use() const {
  return {.of_ports = std::vector<std::uint32_t>(std::size_t{of_.ports.size()} << kVcBits),
          .of_hosts = std::vector<std::uint32_t>(of_.num_hosts)};
}

// Places that packets take in the buffer of an input VC.
void InvariantCheck::count_places(std::uint32_t input_vc, std::uint32_t packets,
                                  std::span<CreditsInUse> use) const {
  const std::uint32_t upstream = of_.input_vcs[input_vc].upstream;
  if (upstream == kNil) return;  // nothing is connected there
  const InputIndex at = of_.plan.input_index[of_.index_of_input(input_vc)];
  if (at.link_class == LinkClass::kHost) {
    use[of_.index].of_hosts[upstream] += packets;
  } else {
    const std::uint32_t id = of_.port_id(of_.router_of_input(input_vc), at.port);
    use[of_.inputs[id].partition].of_ports[upstream] += packets;
  }
}

void InvariantCheck::count_arriving(std::uint32_t input_vc, std::span<CreditsInUse> use) const {
  count_places(input_vc, 1, use);
}

// Adds the credits in use as counted here: credits in flight, and packets on the wire or in the input
// buffer.
void InvariantCheck::count_credits(std::span<CreditsInUse> use) const {
  of_.for_each_credit([&](std::uint32_t item) { ++use[of_.index].of_ports[item]; });
  of_.host_credits.for_each(
      [&](const PartitionState::HostCredit& credit) { ++use[of_.index].of_hosts[credit.host]; });
  of_.for_each_arriving([&](std::uint32_t, std::uint32_t input_vc) { count_arriving(input_vc, use); });
  for (std::uint32_t router = 0; router < of_.num_routers; ++router) {
    for (std::uint32_t i = 0; i < of_.plan.input_vcs; ++i) {
      const std::uint32_t input_vc = (router << of_.plan.input_shift) + i;
      count_places(input_vc, length(of_.input_vcs[input_vc].head, of_.input_vcs[input_vc].tail), use);
    }
  }
  for (const PartitionMessages::SentCredit& sent : of_.messages_out.credits)
    ++use[sent.to].of_ports[sent.credit.item];
  if (!of_.plan.shared_output) return;
  // Credits are taken when the packet enters the output queue.
  for_each_port([&](std::uint32_t id, const OutputPort& output) {
    if (output.link_class == LinkClass::kHost) return;
    for (std::uint32_t vc = 0; vc < output.vcs; ++vc) {
      use[of_.index].of_ports[id << kVcBits | vc] += output.queues()[vc].queued;
    }
  });
}

std::string InvariantCheck::compare_credits(const CreditsInUse& use) const {
  std::ostringstream report;
  for_each_port([&](std::uint32_t id, const OutputPort& output) {
    for (std::uint32_t vc = 0; vc < output.vcs; ++vc) {
      const std::uint32_t believed = of_.buffer_behind(output) - output.queues()[vc].credits;
      const std::uint32_t found = use.of_ports[id << kVcBits | vc];
      if (believed == found) continue;
      report << name_of(id) << " VC " << vc << " has " << believed << " credits in use, found " << found;
    }
  });
  for (std::uint32_t host = 0; host < of_.num_hosts; ++host) {
    const std::uint32_t believed = of_.plan.input_buffer[0] - of_.hosts[host].credits;
    if (believed != use.of_hosts[host]) {
      report << "\n  host " << of_.first_host + host << " has " << believed << " credits in use, found "
             << use.of_hosts[host];
    }
  }
  return report.str();
}

}  // namespace dragonfly
