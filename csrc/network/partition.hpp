// A partition: one or more whole groups with their routers, hosts, packets and events.
//
// Everything that crosses a global link takes at least the look-ahead (the smaller of its packet and credit
// delays), so a partition runs on its own for that long; packets and credits that leave it wait as messages
// to other partitions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "network/delivery.hpp"
#include "network/event_loop.hpp"
#include "network/hosts.hpp"
#include "network/partition_state.hpp"

namespace dragonfly {

class Partition final {
 public:
  Partition(const Blueprint& blueprint, std::uint32_t index) : s_{blueprint, index} {}

  // Takes in the packets and credits that the others sent in the window before. Packets delivered after
  // `horizon` are counted only when time gets there.
  void receive(std::span<const Partition> all, Tick horizon);
  void clear_messages() { s_.messages_out.clear(); }
  // Call when all partitions have taken in their messages: for a window that ends before `end`.
  void open_window(Tick end);
  // Calls EventLoop::go_on().
  Stop go_on(Tick end, bool until_done) { return loop_of(s_)(s_, end, until_done); }
  // Ends the window at the time that go_on() has reached: messages to other partitions are then ready. May be
  // called again for the same window.
  void close_window();
  // The next window starts at `now`. Precondition: nothing is due before.
  void skip_to(Tick now) noexcept { s_.window_start = now; }

  // Leaves decisions to an outside policy from now on, with the background policy next to it if there is one.
  void start_external() noexcept;
  // Makes all pending decisions, in their order (event_loop_general.cpp). Precondition: the actions are
  // legal.
  void decide(const std::int32_t* actions);
  [[nodiscard]] PendingDecisions& pending() noexcept { return *s_.pending; }

  // Generates no further message after `now`, and calls programs no longer.
  void stop_generating(Tick now) { dragonfly::stop_generating(s_, now); }
  void resync_source(Tick now) { dragonfly::resync_source(s_, now); }
  // Between runs: sets the policies that route a job's packets from now on. Precondition: there are programs.
  void set_job_policies(std::uint32_t job, const JobPolicies& policies) {
    s_.programs->set_job_policies(job, policies);
  }
  // Counts the deliveries up to and including `now` that were still in flight to their hosts.
  void settle(Tick now) { dragonfly::settle(s_, now); }
  // Between windows, at the time at which the next one begins (event_loop_general.cpp): links stop sending,
  // or send again; and packets that wait in front of dead links are routed again, as all routers know now.
  void switch_links(const LinkChanges::Ports& ports, Tick now);
  void leave_ports(std::span<const Endpoint> dead, Tick now);
  void reset_statistics(Tick now);
  [[nodiscard]] std::vector<LoggedPacket> take_log() { return std::exchange(s_.record.log, {}); }

  void archive(Archive& archive) { s_.archive(archive); }
  void sort_messages() { s_.messages_out.sort(s_.plan.num_partitions()); }
  [[nodiscard]] const PartitionState& state() const noexcept { return s_; }
  // Everything before has happened here.
  [[nodiscard]] Tick cursor() const noexcept { return s_.cursor; }
  // Everything up to and including this time has happened here.
  [[nodiscard]] Tick clock() const noexcept { return std::max<Tick>(0, s_.cursor - 1); }
  // Whether nothing happens here before next_message(), unless messages from other partitions arrive.
  [[nodiscard]] bool silent() const noexcept { return s_.silent(); }
  [[nodiscard]] Tick next_message() const noexcept { return s_.next_message(); }
  [[nodiscard]] std::uint32_t first_router() const noexcept { return s_.first_router; }
  [[nodiscard]] std::uint32_t num_routers() const noexcept { return s_.num_routers; }
  [[nodiscard]] const OutputPort& output_port(std::uint32_t router, std::uint32_t port) const noexcept {
    return s_.ports.port(router, port);
  }
  // The trackers of its routers.
  [[nodiscard]] PartitionTrackers& trackers() noexcept { return s_.trackers; }
  // Null in an open-loop run.
  [[nodiscard]] const HostPrograms* programs() const noexcept { return s_.programs.get(); }
  // Packets in its routers and on its links; in source queues at `now`; that left them, and that were
  // delivered, since the start.
  [[nodiscard]] std::uint64_t in_network() const noexcept { return s_.in_network; }
  [[nodiscard]] SourceQueue source_queue(std::uint32_t host, Tick now) {
    return dragonfly::source_queue(s_, host, now);
  }
  void visit_source_queue(std::uint32_t host, Tick now, const std::function<void(Tick)>& visit) {
    dragonfly::visit_source_queue(s_, host, now, visit);
  }
  [[nodiscard]] SourceQueue source_queues(Tick now) { return dragonfly::source_queues(s_, now); }
  [[nodiscard]] std::uint64_t injected_ever() const noexcept { return s_.injected_ever; }
  [[nodiscard]] std::uint64_t delivered_ever() const noexcept { return s_.delivered_ever; }
  [[nodiscard]] Tick last_delivery() const noexcept { return s_.last_delivery; }
  [[nodiscard]] const DeliveryRecord& record() const noexcept { return s_.record; }
  [[nodiscard]] std::uint64_t trace_hash() const noexcept { return s_.trace_hash; }

 private:
  PartitionState s_;
};

}  // namespace dragonfly
