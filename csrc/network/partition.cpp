#include "network/partition.hpp"

namespace dragonfly {

namespace {

// A packet that comes from another partition waits for its arrival here.
void receive_from(PartitionState& s, const PartitionMessages& messages_out) {
  const auto packets = messages_out.packets_of.of(s.index);
  for (const std::uint32_t i : packets) {
    const PartitionMessages::SentPacket& sent = messages_out.packets[i];
    const std::uint32_t packet = s.store.add();
    s.store.packets[packet] = sent.packet;
    s.store.times[packet] = sent.times;
    if (s.store.has_serialized())
      s.store.unpack(packet, messages_out.serialization.data() + sent.serialization);
    s.send_between(packet, sent.input_vc, time_from(s.window_start, sent.when));
  }
  s.in_network += packets.size();
  for (const std::uint32_t i : messages_out.credits_of.of(s.index)) {
    const Credit& sent = messages_out.credits[i].credit;
    auto place = static_cast<std::uint32_t>(s.credit_pool.size());
    if (s.unused_credits.empty()) {
      s.credit_pool.emplace_back();
    } else {
      place = s.unused_credits.back();
      s.unused_credits.pop_back();
    }
    const Tick when = time_from(s.window_start, sent.when);
    const Feedback feedback = messages_out.feedback.empty() ? Feedback{} : messages_out.feedback[i];
    s.credit_pool[place] = {sent, feedback, std::exchange(s.sent_credits.head(when), place)};
    s.busy.mark(when);
  }
  for (const std::uint32_t i : messages_out.acknowledgements_of.of(s.index)) {
    s.trackers.acknowledge(messages_out.acknowledgements[i].acknowledgement);
  }
  if (!messages_out.messages.empty()) s.programs->open_work().expected += messages_out.messages[s.index];
}

}  // namespace

void Partition::receive(std::span<const Partition> all, Tick horizon) {
  s_.count_until = s_.programs == nullptr ? horizon : -1;  // programs receive a delivery when it happens
  settle(horizon);
  // A sender's messages to this partition are a few lines of its memory, found in steps.
  constexpr std::size_t kSteps = 3;
  for (std::size_t i = 0; i < all.size() + kSteps; ++i) {
    for (std::uint32_t step = 0; step < kSteps; ++step) {
      if (i >= step && i - step < all.size()) all[i - step].s_.messages_out.prefetch_messages(s_.index, step);
    }
    if (i >= kSteps) receive_from(s_, all[i - kSteps].s_.messages_out);
  }
}

void Partition::open_window(Tick end) {
  s_.messages_out.clear();
  s_.trackers.open_window();
  call_hosts_before(s_, end);
  s_.cursor = s_.window_start;
}

void Partition::close_window() {
  if (s_.window_start == s_.cursor) return;
  if (s_.programs != nullptr) {
    OpenWork& work = s_.programs->open_work();
    if (!work.sent_elsewhere.empty()) s_.messages_out.messages.resize(s_.plan.num_partitions());
    for (const std::uint32_t host : work.sent_elsewhere) {
      const std::uint32_t group = s_.plan.topology.group_of_host(host);
      ++s_.messages_out.messages[s_.plan.partition_of_group[group]];
    }
    work.sent_elsewhere.clear();
  }
  sort_messages();
  s_.window_start = s_.cursor;
}

void Partition::start_external() noexcept {
  s_.external = s_.pending != nullptr;
  if (s_.plan.deciders.background)
    s_.trackers.numbers().policy_trackers = &s_.plan.deciders.background->trackers;
}

void Partition::reset_statistics(Tick now) {
  s_.record.clear();
  std::ranges::fill(s_.router_injected, 0);
  std::ranges::fill(s_.router_delivered, 0);
  if (s_.programs != nullptr) s_.programs->reset_records();
  for (std::uint32_t id = 0; id < s_.ports.size(); ++id) {
    s_.ports[id].sent = 0;
    s_.output_stalls[id] = {.since = now, .stalled = 0};
    s_.input_stalls[id].since = now;
    s_.input_stalls[id].stalled = 0;
  }
}

}  // namespace dragonfly
