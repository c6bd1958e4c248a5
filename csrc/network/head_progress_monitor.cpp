#include "network/head_progress_monitor.hpp"

#include <sstream>

namespace dragonfly {

bool HeadProgressMonitor::note_heads() {
  // The grant counter of a buffer changes whenever the head of that buffer moves.
  constexpr std::uint64_t kEmpty = ~std::uint64_t{0};
  const bool first = noted_heads_.empty();
  noted_heads_.resize(of_.input_vcs.size(), kEmpty);
  unmoved_.assign(of_.input_vcs.size(), false);
  bool any = false;
  for (std::size_t i = 0; i < of_.input_vcs.size(); ++i) {
    const InputVc& input = of_.input_vcs[i];
    const bool empty = input.head == kNil;
    const std::uint64_t head =
        empty ? kEmpty : std::uint64_t{input.last_served} << 32 | of_.store.packets[input.head].source_host;
    unmoved_[i] = !first && !empty && noted_heads_[i] == head;
    any = any || unmoved_[i];
    noted_heads_[i] = head;
  }
  return any;
}

std::uint64_t HeadProgressMonitor::movements() const {
  std::uint64_t sum = of_.injected_ever + of_.delivered_ever;
  for (const std::uint32_t served : of_.served) sum += served;
  return sum;
}

// A head waits for the crossbar or for space in the output queue. It is for sure not the only thing
// that waits if that space comes with a credit: then the buffer downstream has to move first.
InputVcId HeadProgressMonitor::waits_for(std::uint32_t input_vc) const {
  if (!unmoved_[input_vc] || !of_.waits_for_room(input_vc)) return {};
  const std::uint16_t to = of_.requested[input_vc];
  const OutputPort& output = of_.ports.port(of_.router_of_input(input_vc), port_of(to));
  if (output.link_class == LinkClass::kHost || output.queues()[vc_of(to)].credits > 0) return {};
  return {output.peer_partition, output.peer + vc_of(to)};
}

std::string HeadProgressMonitor::describe_head(std::uint32_t input_vc) const {
  const std::uint32_t router = of_.router_of_input(input_vc);
  const InputIndex at = of_.plan.input_index[of_.index_of_input(input_vc)];
  const std::uint32_t head = of_.input_vcs[input_vc].head;
  const Packet& packet = of_.store.packets[head];
  std::ostringstream text;
  text << "packet " << packet.number << " of host " << packet.source_host << " to host "
       << packet.destination_host << ", " << int{packet.hops} << " hops, at router "
       << of_.first_router + router << " port " << at.port << " VC " << int{at.vc} << " since "
       << static_cast<double>(of_.plan.to_ps(time_until(of_.cursor, packet.arrived))) / 1000.0 << " ns";
  if (of_.is_ready(router, of_.index_of_input(input_vc)) || of_.waits_for_room(input_vc)) {
    const std::uint16_t to = of_.requested[input_vc];
    const OutputPort& output = of_.ports.port(router, port_of(to));
    const VcQueue& queue = output.queues()[vc_of(to)];
    text << ", waits for port " << port_of(to) << " VC " << vc_of(to) << " (" << queue.queued
         << " packets queued there, " << queue.credits << " of " << of_.buffer_behind(output) << " credits)";
  }
  return text.str();
}

}  // namespace dragonfly
