// The hosts of a partition: source queues, sending, and the programs that run on them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <vector>

#include "network/deliveries.hpp"
#include "network/host_programs.hpp"

namespace dragonfly {

class SourceHosts : public Deliveries {
 public:
  // Packets that wait in source queues at `now`.
  [[nodiscard]] std::uint64_t in_source_queues(Tick now);
  // When the next host sends that has nothing on the wheel; nothing is known of the others.
  [[nodiscard]] Tick next_message() const noexcept {
    return far_hosts_.empty() ? Blueprint::kNeverTick : far_hosts_.top().when;
  }
  // No further message is generated after `now`, and programs are no longer asked.
  void stop_generating(Tick now);
  // Between runs: who routes what a job sends from now on. Precondition: there are programs.
  void set_job_policies(std::uint32_t job, const JobPolicies& policies) {
    programs_->set_job_policies(job, policies);
  }
  // Null in an open-loop run.
  [[nodiscard]] const HostPrograms* programs() const noexcept { return programs_.get(); }
  // Packets that have left the source queue of each host, since the start.
  void append_sent(std::vector<std::uint64_t>& into) const {
    for (const HostSender& sender : hosts_) into.push_back(sender.number);
  }
  // What a host believes: places in its router's buffer that are free.
  [[nodiscard]] std::uint32_t host_credits(std::uint32_t host) const { return hosts_[host].credits; }

 protected:
  SourceHosts(const Blueprint& blueprint, PacketStore& store, FeedbackSignals& feedback, OpenDecisions* open,
              std::uint32_t index);

  void reset_programs();
  // Null in an open-loop run.
  [[nodiscard]] OpenWork* open_work() noexcept {
    return programs_ == nullptr ? nullptr : &programs_->open_work();
  }
  // Those whose time has come are put on the wheel.
  void call_hosts_before(Tick end);
  // Hosts are worked off by one of two versions, chosen once per instant: with programs on some, or without.
  template <bool kPrograms>
  void host_event(std::uint32_t host, Tick now);
  void run_programs(Tick now);
  void host_credit(std::uint32_t host, Tick now);

 private:
  struct FarHostEvent {
    Tick when;
    std::uint32_t host;
    bool operator>(const FarHostEvent& other) const noexcept { return when > other.when; }
  };

  void build_hosts();
  template <bool kPrograms>
  void send_from_host(std::uint32_t host, HostSender& sender, Tick now);
  template <bool kPrograms>
  void next_packet(std::uint32_t host, HostSender& sender);
  [[nodiscard]] bool next_message(std::uint32_t host, HostSender& sender);
  [[nodiscard]] bool is_crowded_out(std::uint32_t host, const SourceCursor& cursor, std::uint64_t number,
                                    std::uint32_t packets) const;
  void schedule_host(std::uint32_t host, HostSender& sender, Tick now);
  void push_host(std::uint32_t host, Tick when, Tick now);

  // Programs (source_programs.cpp).
  void start_programs();
  void hand_over(std::uint32_t packet, Tick now);
  void heed(std::uint32_t host, Tick alarm, Tick now);
  [[nodiscard]] bool begin_message(std::uint32_t host, HostSender& sender);
  [[nodiscard]] std::uint64_t queued_by_program(std::uint32_t host) const;

  std::vector<HostSender> hosts_;
  std::vector<Tick> departures_;              // [host * source queue + number % source queue], if bounded
  std::vector<SourceCursor> backlog_cursor_;  // how far generated packets were counted, per host
  std::vector<std::uint64_t> backlog_count_;
  std::priority_queue<FarHostEvent, std::vector<FarHostEvent>, std::greater<>> far_hosts_;
  bool skips_ = false;  // what finds the source queue full never waits for room
  Tick stop_after_ = Blueprint::kNeverTick;

  std::unique_ptr<HostPrograms> programs_;
  std::vector<std::uint32_t> woken_;    // scratch of run_programs()
  std::vector<std::uint32_t> sending_;  // the same
};

}  // namespace dragonfly
