#include "network/head_watch.hpp"

#include <sstream>

namespace dragonfly {

bool HeadWatch::note_heads(Tick now) {
  // What changes whenever the head of a buffer moves: the grant counter of that buffer.
  constexpr std::uint64_t kEmpty = ~std::uint64_t{0};
  const bool first = noted_heads_.empty();
  noted_heads_.resize(of_.input_vcs_.size(), kEmpty);
  unmoved_.assign(of_.input_vcs_.size(), false);
  bool any = false;
  for (std::size_t i = 0; i < of_.input_vcs_.size(); ++i) {
    const InputVc& input = of_.input_vcs_[i];
    const bool empty = input.head == kNil;
    const std::uint64_t head =
        empty ? kEmpty : std::uint64_t{input.last_served} << 32 | of_.packets_[input.head].source_host;
    unmoved_[i] = !first && !empty && noted_heads_[i] == head &&
                  of_.packets_[input.head].arrived <= now - of_.plan_.timing.watchdog;
    any = any || unmoved_[i];
    noted_heads_[i] = head;
  }
  return any;
}

std::uint64_t HeadWatch::movements() const {
  std::uint64_t sum = partition_->injected_ever() + partition_->delivered_ever();
  for (const RouterState& router : of_.routers_) sum += router.served;
  return sum;
}

// A head waits for the crossbar or for space in the output queue. It is for sure not the only thing
// that waits if that space comes with a credit: then the buffer downstream has to move first.
InputVcId HeadWatch::waits_for(std::uint32_t input_vc) const {
  const InputVc& input = of_.input_vcs_[input_vc];
  if (!unmoved_[input_vc] || input.state != HeadState::kWaiting) return {};
  const std::uint32_t output_id = input.router * of_.radix_ + input.out_port;
  const OutputPort& output = of_.outputs_[output_id];
  const VcQueue& queue = of_.queues_[output_id * of_.plan_.queue_stride + input.out_vc];
  if (output.link_class == LinkClass::kHost || queue.credits > 0) return {};
  return {output.peer_partition, output.peer + input.out_vc};
}

std::string HeadWatch::describe_head(std::uint32_t input_vc) const {
  const InputVc& input = of_.input_vcs_[input_vc];
  const Packet& packet = of_.packets_[input.head];
  std::ostringstream text;
  text << "packet " << packet.number << " of host " << packet.source_host << " to host "
       << packet.destination_host << ", " << int{packet.hops} << " hops, at router "
       << of_.first_router_ + input.router << " port " << input.port << " VC " << int{packet.vc} << " since "
       << static_cast<double>(of_.plan_.to_ps(packet.arrived)) / 1000.0 << " ns";
  if (input.state != HeadState::kDeciding) {
    const std::uint32_t output_id = input.router * of_.radix_ + input.out_port;
    const VcQueue& queue = of_.queues_[output_id * of_.plan_.queue_stride + input.out_vc];
    text << ", waits for port " << input.out_port << " VC " << int{input.out_vc} << " (" << queue.queued
         << " packets queued there, " << queue.credits << " of " << queue.buffer << " credits)";
  }
  return text.str();
}

}  // namespace dragonfly
