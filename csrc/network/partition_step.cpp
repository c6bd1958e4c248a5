// One instant of a partition, kind by kind, with prefetching for the instants that follow.
#include <bit>

#include "core/prefetch.hpp"
#include "network/partition.hpp"

namespace dragonfly {

void Partition::step(Tick now) {
  const Tick clock = plan_.timing.clock;
  if (next_clock_edge_ <= now) next_clock_edge_ = (now / clock + 1) * clock;
  const bool tracked = trackers_.any();
  if (tracked) trackers_.begin_instant(now);

  // What is worth asking for ahead of time is what does not stay in the second-level cache while a partition
  // is worked on: packets, rows of tables and reports. Prefetching ports, buffers and routers, too, costs
  // more than it saves.
  const auto touch_feedback = [this](std::uint32_t item) {
    const std::uint32_t sender = item >> kVcBits;
    if (feedback_.heard() && sender < num_outputs_) feedback_.touch(sender);
  };
  const auto touch_heads = [this](std::uint32_t output) {
    // Only the packet that will most likely leave: with many VCs the others would crowd the cache.
    const OutputPort& port = outputs_[output];
    const VcQueue* const queues = &queues_[output * plan_.queue_stride];
    const auto touch_head_of = [&](std::uint32_t vc) {
      prefetch(&packets_[queues[vc].head]);
      if (asking_ && port.link_class == LinkClass::kHost) desk_->touch(queues[vc].head);  // it is delivered
    };
    if (port.sendable == 0) return;
    touch_head_of(port.first_sendable());
    if (!plan_.shared_output) return;
    for (std::uint32_t vcs = port.sendable; vcs != 0; vcs &= vcs - 1) {
      touch_head_of(static_cast<std::uint32_t>(std::countr_zero(vcs)));
    }
  };
  const auto touch_head = [this](std::uint32_t input_vc) { prefetch(&packets_[input_vcs_[input_vc].head]); };
  const auto touch_packet = [this](std::uint32_t packet) { prefetch(&packets_[packet]); };

  const Tick next = wheel_.next_due(now + 1, now + clock);
  if (feedback_.heard()) wheel_.glance(kCredit, now, touch_feedback);
  wheel_.glance(kDeparture, next, touch_heads);
  wheel_.glance(kArrival, next, touch_packet);
  wheel_.glance(kEffect, next, touch_head);

  wheel_.drain(kEdge, now, [this, now](std::uint32_t router) { clock_edge(router, now); });
  wheel_.drain(kCredit, now, touch_feedback, [this, now](std::uint32_t item) { take_credit(item, now); });
  wheel_.drain(kDeparture, now, touch_heads, [this, now](std::uint32_t output) { depart(output, now); });
  if (programs_ == nullptr) {
    wheel_.drain(kHost, now, [this, now](std::uint32_t host) { host_event<false>(host, now); });
  } else {
    run_programs(now);
  }
  wheel_.drain(kArrival, now, touch_packet, [this, now](std::uint32_t packet) { arrive(packet, now); });
  wheel_.drain(kEffect, now, touch_head, [this](std::uint32_t input_vc) { take_effect(input_vc); });
  if (tracked) trackers_.settle(outputs_, now);
  if (!undecided_.empty()) make_decisions(now);
  wheel_.finish(now);
}

}  // namespace dragonfly
