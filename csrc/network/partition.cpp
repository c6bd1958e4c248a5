// The clock loop of a partition: windows, and one instant kind by kind, with prefetching for the instants
// that follow.
#include "network/partition.hpp"

#include <bit>

#include "core/prefetch.hpp"

namespace dragonfly {

void Partition::open_window(Tick end, Tick horizon, std::span<Mailbox* const> inboxes,
                            std::span<Mailbox> outboxes) {
  outboxes_ = outboxes;
  count_until_ = programs() == nullptr ? horizon : -1;  // programs hear of a delivery when it happens
  settle(horizon);
  for (Mailbox* box : inboxes) {
    for (const Mailbox::Item& sent : box->packets) {
      wheel_.push(kArrival, box->window_start + sent.delay, sent.item);
    }
    for (const Mailbox::Item& sent : box->credits) {
      wheel_.push(kCredit, box->window_start + sent.delay, sent.item);
    }
    for (const Acknowledgement& sent : box->acknowledgements) trackers_.acknowledge(sent);
    in_network_ += box->packets.size();
    if (box->messages > 0) open_work()->expected += box->messages;
    box->packets.clear();
    box->credits.clear();
    box->acknowledgements.clear();
    box->messages = 0;
  }
  trackers_.open_window();
  for (Mailbox& box : outboxes) box.window_start = now_;
  call_hosts_before(end);
  cursor_ = now_;
}

Partition::Stop Partition::go_on(Tick end, bool until_done) {
  const Tick delay = plan_.timing.routing_delay;
  // Without a delay an answer may make something happen before the next event that is known now.
  if (asking_ && delay == 0 && desk_->waits()) return Stop::kAsks;
  for (Tick due = wheel_.next_due(cursor_, end); due < end; due = wheel_.next_due(cursor_, end)) {
    if (asking_ && desk_->waits() && due >= desk_->first_time() + delay) return Stop::kAsks;
    step(due);
    cursor_ = due + 1;
    if (asking_ && delay == 0 && desk_->waits()) return Stop::kAsks;
    if (until_done && open_work()->done()) return Stop::kDone;
  }
  cursor_ = end;
  return Stop::kEnd;
}

void Partition::close_window() {
  if (now_ == cursor_) return;
  if (OpenWork* const work = open_work(); work != nullptr) {
    for (const std::uint32_t host : work->sent_elsewhere) {
      const std::uint32_t group = plan_.topology.group_of(plan_.topology.router_of_host(host));
      ++outboxes_[plan_.partition_of_group[group]].messages;
    }
    work->sent_elsewhere.clear();
  }
  give_back_packets();
  now_ = cursor_;
}

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
  if (programs() == nullptr) {
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

void Partition::reset_statistics(Tick now, bool ends_warmup) {
  reset_counts();
  if (ends_warmup) count_after(now);
  reset_programs();
  for (OutputPort& output : outputs_) {
    output.sent = 0;
    output.stalled = 0;
    if (output.blocked_since >= 0) output.blocked_since = now;
  }
  for (InputStall& stall : input_stalls_) {
    stall.stalled = 0;
    stall.since = now;
  }
}

}  // namespace dragonfly
