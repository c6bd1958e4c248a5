// The state of a network, field by field: core/archive.hpp describes how it is written and read.
#include <algorithm>

#include "network/network.hpp"

namespace dragonfly {

namespace {

// The heap of a queue, as it lies.
template <class Queue>
auto& items_of(Queue& queue) {
  struct Open : Queue {
    static auto& items(Queue& of) { return of.*&Open::c; }
  };
  return Open::items(queue);
}

// The tables of counters that policies keep for their observations. They are made when a policy is first
// called.
void archive_sheets(Archive& archive, PartitionState& s) {
  std::uint64_t count = s.tables.size();
  archive(count);
  s.tables.resize(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < count; ++i) {
    PartitionState::Table& table = s.tables[i];
    bool in_use = table.rows != nullptr && table.of == s.plan.deciders.policies_before;
    archive(in_use);
    if (!in_use) continue;
    if (archive.reads()) {
      const bool background = i == s.plan.deciders.policies.size();
      const Decider& who = background ? *s.plan.deciders.background : s.plan.deciders.policies[i];
      table = {.rows = std::make_unique<ObservationTable>(*who.seen, s.first_router, s.num_routers),
               .of = s.plan.deciders.policies_before};
    }
    archive(*table.rows);
  }
}

// A field that is missing in the list below is lost when a run is restored. So this assertion stops the build
// when a field is added: list the field in the function that follows, or say there that it is scratch, and
// correct the number.
#if defined(__GLIBCXX__) && defined(__x86_64__)
static_assert(sizeof(PartitionState) == 4176);
static_assert(sizeof(PacketStore) == 328);
static_assert(sizeof(DeliveryRecord) == 280);
static_assert(sizeof(HostSender) == 88);
static_assert(sizeof(PartitionMessages) == 288);
static_assert(sizeof(PendingDecisions) == 576);
static_assert(sizeof(HostPrograms) == 360);
static_assert(sizeof(PartitionTrackers) == 296);
static_assert(sizeof(Network) == 248);
#endif

}  // namespace

// Left out: constants set by the constructor (inputs, group_of, drawn_packets, skips), values that are drawn
// anew when they are missing (drawn), and scratch (keys, requests, best_requests, choices, woken, sending,
// and of `around` all but its time).
void PartitionState::archive(Archive& archive) {
  if (archive.reads()) drawn.assign(drawn.size(), {});
  archive(window_start, cursor, next_edge, count_until, messages_out, ports);
  archive.fixed(output_stalls);
  archive.fixed(input_stalls);
  archive.fixed(input_vcs);
  archive.fixed(requested);
  archive.fixed(ready);
  archive.fixed(served);
  archive.fixed(first_waiting);
  archive.fixed(next_waiting);
  archive.fixed(input_free);
  archive.fixed(output_free);
  archive.fixed(router_edge);
  archive.fixed(last_requests);
  archive.fixed(last_inputs);

  archive.fixed(edges);
  archive.fixed(edge_planned);
  archive.fixed(credits);
  archive.fixed(feedback);
  archive(host_credits);
  archive.fixed(arrivals);
  archive(to_hosts);
  archive.fixed(departures);
  archive(hosts_due, effects, sent_packets, sent_to, sent_credits, credit_pool, unused_credits, busy,
          items_of(far_hosts), items_of(alarms), unrouted);

  archive.fixed(hosts);
  archive.fixed(departed);
  archive.fixed(backlog);
  archive(stop_after);
  if (programs != nullptr) archive(*programs);

  archive(store, in_network, late, record);
  archive.fixed(router_injected);
  archive.fixed(router_delivered);
  archive(trace_hash, injected_ever, delivered_ever, last_delivery, packet_time);

  archive(trackers, view.now, external);
  if (pending != nullptr) archive(*pending);
  archive_sheets(archive, *this);
  if (archive.reads() && external && plan.deciders.background) {
    trackers.numbers().policy_trackers = &plan.deciders.background->trackers;
  }
}

void Network::archive(Archive& archive) {
  archive(in_window_, window_end_, now_, started_, last_watch_);
  archive.fixed(stops_);
  for (Partition& partition : partitions_) archive(partition);
  watchdog_.archive(archive, partitions_);
  if (plan_->options.changes != nullptr) {
    archive(changed_);
    if (archive.reads()) {
      const auto& changes = plan_->options.changes->changes();
      for (std::uint32_t i = 0; i < std::min<std::size_t>(changed_, changes.size()); ++i) {
        if (changes[i].notice) plan_->know(changes[i].state);
      }
    }
  }
  if (!archive.reads()) return;
  for (Partition& partition : partitions_) partition.sort_messages();
}

}  // namespace dragonfly
