// One instant of a partition, kind by kind, with prefetching for the instants that follow.
#include "network/partition.hpp"

namespace dragonfly {

void Partition::step(Tick now) {
  const Tick clock = plan_.timing.clock;
  if (next_clock_edge_ <= now) next_clock_edge_ = (now / clock + 1) * clock;

  const auto nothing = [](std::uint32_t) {};
  const auto touch_router = [this](std::uint32_t router) {
    __builtin_prefetch(&routers_[router], 1);
    __builtin_prefetch(&ready_[router * plan_.input_vcs], 1);
  };
  const auto touch_asking = [this](std::uint32_t router) {
    const std::uint16_t* const ready = &ready_[router * plan_.input_vcs];
    const std::uint32_t asking = routers_[router].ready;
    for (std::uint32_t i = 0; i < asking; ++i) {
      __builtin_prefetch(&input_vcs_[router * plan_.input_vcs + ready[i]], 1);
    }
  };
  const auto touch_sender = [this](std::uint32_t item) {
    const std::uint32_t sender = item >> kVcBits;
    if (sender < num_outputs_) {
      __builtin_prefetch(&outputs_[sender], 1);
      __builtin_prefetch(&queues_[sender * plan_.queue_stride + (item & 15U)], 1);
    } else {
      __builtin_prefetch(&hosts_[sender - num_outputs_], 1);
    }
  };
  const auto touch_feedback = [this](std::uint32_t item) {
    const std::uint32_t sender = item >> kVcBits;
    if (plan_.learner == nullptr || sender >= num_outputs_) return;
    const std::uint32_t router = first_router_ + sender / radix_;
    const Feedback& entry =
        feedback_.entry(router, static_cast<Port>(sender % radix_), feedback_taken_[sender]);
    if (entry.row != kNil) plan_.learner->touch(router, entry.row);
  };
  const auto touch_output = [this](std::uint32_t output) {
    __builtin_prefetch(&outputs_[output], 1);
    __builtin_prefetch(&queues_[output * plan_.queue_stride], 1);
  };
  const auto touch_heads = [this](std::uint32_t output) {
    // Only the packet that will most likely leave: with many VCs the others would crowd the cache.
    const OutputPort& port = outputs_[output];
    const VcQueue* const queues = &queues_[output * plan_.queue_stride];
    const bool needs_credit = port.link_class != LinkClass::kHost && !plan_.shared_output;
    for (std::uint32_t i = 0; i < port.vcs; ++i) {
      std::uint32_t vc = port.next_vc + i;
      if (vc >= port.vcs) vc -= port.vcs;
      if (queues[vc].queued == 0 || (needs_credit && queues[vc].credits == 0)) continue;
      __builtin_prefetch(&packets_[queues[vc].head], 1);
      if (asking_ && port.link_class == LinkClass::kHost) desk_->touch(queues[vc].head);  // it is delivered
      if (!plan_.shared_output) break;
    }
  };
  const auto touch_input = [this](std::uint32_t input_vc) { __builtin_prefetch(&input_vcs_[input_vc], 1); };
  const auto touch_head = [this](std::uint32_t input_vc) {
    __builtin_prefetch(&packets_[input_vcs_[input_vc].head], 1);
  };
  const auto touch_host = [this](std::uint32_t host) {
    __builtin_prefetch(&hosts_[host], 1);
    __builtin_prefetch(reinterpret_cast<const char*>(&hosts_[host]) + 64, 1);
  };
  const auto touch_packet = [this](std::uint32_t packet) { __builtin_prefetch(&packets_[packet], 1); };
  const auto touch_buffer = [this](std::uint32_t packet) {
    __builtin_prefetch(&input_vcs_[packets_[packet].next], 1);
  };

  const Tick horizon = now + plan_.timing.clock;
  const Tick next = wheel_.next_due(now + 1, horizon);
  const Tick after = wheel_.next_due(next + 1, horizon + 1);
  wheel_.glance(kEdge, now, touch_asking);
  wheel_.glance(kEdge, next, touch_router);
  wheel_.glance(kCredit, next, touch_sender);
  wheel_.glance(kHost, next, touch_host);
  wheel_.glance(kDeparture, next, touch_heads);
  wheel_.glance(kDeparture, after, touch_output);
  wheel_.glance(kArrival, next, touch_buffer);
  wheel_.glance(kArrival, after, touch_packet);
  wheel_.glance(kEffect, next, touch_head);
  wheel_.glance(kEffect, after, touch_input);

  wheel_.drain(kEdge, now, touch_router, touch_asking,
               [this, now](std::uint32_t router) { clock_edge(router, now); });
  wheel_.drain(kCredit, now, touch_sender, touch_feedback,
               [this, now](std::uint32_t item) { take_credit(item, now); });
  wheel_.drain(kDeparture, now, touch_output, touch_heads,
               [this, now](std::uint32_t output) { depart(output, now); });
  wheel_.drain(kHost, now, touch_host, nothing, [this, now](std::uint32_t host) { host_event(host, now); });
  wheel_.drain(kArrival, now, touch_packet, touch_buffer,
               [this, now](std::uint32_t packet) { arrive(packet, now); });
  wheel_.drain(kEffect, now, touch_input, touch_head,
               [this](std::uint32_t input_vc) { take_effect(input_vc); });
  if (!undecided_.empty()) make_decisions(now);
  wheel_.finish(now);
}

}  // namespace dragonfly
