#include "network/partition.hpp"

namespace dragonfly {

namespace {

// A packet that comes from another partition waits for its arrival here.
void take_in_from(PartitionState& s, const Mail& mail) {
  const auto packets = mail.packets_of.of(s.index);
  for (const std::uint32_t i : packets) {
    const Mail::SentPacket& sent = mail.packets[i];
    const std::uint32_t packet = s.store.add();
    if (s.mailed_to.size() < s.store.packets.size()) s.mailed_to.resize(s.store.packets.size());
    s.store.packets[packet] = sent.packet;
    s.store.times[packet] = sent.times;
    if (s.store.has_baggage()) s.store.unpack(packet, mail.baggage.data() + sent.baggage);
    const Tick when = time_from(s.window_start, sent.when);
    s.mailed_to[packet] = sent.input_vc;
    s.store.next[packet] = std::exchange(s.mailed_packets.head(when), packet);
    s.busy.mark(when);
  }
  s.in_network += packets.size();
  for (const std::uint32_t i : mail.credits_of.of(s.index)) {
    const Credit& sent = mail.credits[i].credit;
    auto place = static_cast<std::uint32_t>(s.credit_pool.size());
    if (s.unused_credits.empty()) {
      s.credit_pool.emplace_back();
    } else {
      place = s.unused_credits.back();
      s.unused_credits.pop_back();
    }
    const Tick when = time_from(s.window_start, sent.when);
    const Feedback feedback = mail.feedback.empty() ? Feedback{} : mail.feedback[i];
    s.credit_pool[place] = {sent, feedback, std::exchange(s.mailed_credits.head(when), place)};
    s.busy.mark(when);
  }
  for (const std::uint32_t i : mail.acknowledgements_of.of(s.index)) {
    s.trackers.acknowledge(mail.acknowledgements[i].acknowledgement);
  }
  if (!mail.messages.empty()) s.programs->open_work().expected += mail.messages[s.index];
}

}  // namespace

void Partition::take_in(std::span<const Partition> all, Tick horizon) {
  s_.count_until = s_.programs == nullptr ? horizon : -1;  // programs receive a delivery when it happens
  settle(horizon);
  // A sender's messages to this partition are a few lines of its memory, found in steps.
  constexpr std::size_t kSteps = 3;
  for (std::size_t i = 0; i < all.size() + kSteps; ++i) {
    for (std::uint32_t step = 0; step < kSteps; ++step) {
      if (i >= step && i - step < all.size()) all[i - step].s_.mail.touch(s_.index, step);
    }
    if (i >= kSteps) take_in_from(s_, all[i - kSteps].s_.mail);
  }
}

void Partition::open_window(Tick end) {
  s_.mail.clear();
  s_.trackers.open_window();
  call_hosts_before(s_, end);
  s_.cursor = s_.window_start;
}

void Partition::close_window() {
  if (s_.window_start == s_.cursor) return;
  if (s_.programs != nullptr) {
    OpenWork& work = s_.programs->open_work();
    if (!work.sent_elsewhere.empty()) s_.mail.messages.resize(s_.plan.num_partitions());
    for (const std::uint32_t host : work.sent_elsewhere) {
      const std::uint32_t group = s_.plan.topology.group_of(s_.plan.topology.router_of_host(host));
      ++s_.mail.messages[s_.plan.partition_of_group[group]];
    }
    work.sent_elsewhere.clear();
  }
  sort_mail();
  s_.window_start = s_.cursor;
}

void Partition::start_asking() noexcept {
  s_.asking = s_.desk != nullptr;
  if (s_.plan.background) s_.trackers.numbers().policy_trackers = &s_.plan.background->trackers;
}

void Partition::reset_statistics(Tick now, bool ends_warmup) {
  s_.record.clear();
  std::ranges::fill(s_.router_injected, 0);
  std::ranges::fill(s_.router_delivered, 0);
  if (ends_warmup) s_.counted_after = now;
  if (s_.programs != nullptr) s_.programs->reset_records();
  for (std::uint32_t id = 0; id < s_.ports.size(); ++id) {
    s_.ports[id].sent = 0;
    s_.output_stalls[id] = {.since = now, .stalled = 0};
    s_.input_stalls[id].since = now;
    s_.input_stalls[id].stalled = 0;
  }
}

}  // namespace dragonfly
