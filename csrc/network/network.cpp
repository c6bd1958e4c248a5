#include "network/network.hpp"

#include <algorithm>
#include <stdexcept>

#include "core/error.hpp"
#include "network/invariant_check.hpp"
#include "network/memory_need.hpp"

namespace dragonfly {

namespace {

bool any(const std::vector<Stop>& stops, Stop why) { return std::ranges::find(stops, why) != stops.end(); }

}  // namespace

Network::Network(std::unique_ptr<Blueprint> blueprint)
    : plan_{(require_memory(*blueprint), std::move(blueprint))},
      pool_{std::min(plan_->options.threads, plan_->num_partitions())} {
  const std::uint32_t n = plan_->num_partitions();
  if (plan_->deciders.learner != nullptr) plan_->deciders.learner->prepare(plan_->topology, plan_->hop_times);
  partitions_.reserve(n);
  for (std::uint32_t i = 0; i < n; ++i) partitions_.emplace_back(*plan_, i);
  stops_.assign(n, Stop::kEnd);
}

// The workload completes at a time T that is unknown until it has come, and no partition may go beyond T. So
// partitions that still have work for the workload go first; each stops when its work is done, which is not
// after T. A message between partitions takes longer than a window. So if one of the partitions comes to the
// end of the window, or a message to another partition is in flight, then T lies behind the window, and all
// go to its end. Else T is the latest time at which one of them was done, and all go on to exactly T.
bool Network::run_window(Tick until, RunGoal goal) {
  const bool opens = !in_window_;
  in_window_ = true;
  const bool to_completion = goal == RunGoal::kCompletion;
  const auto advance = [this](std::uint32_t i, Tick end, bool until_done) {
    stops_[i] = partitions_[i].go_on(end, until_done);
    if (end == window_end_ && stops_[i] == Stop::kEnd) partitions_[i].close_window();
  };
  if (opens) {
    pool_.run(plan_->num_partitions(), [&](std::uint32_t i) { partitions_[i].receive(partitions_, until); });
    change_links();
    // A window ends at most one look-ahead after its start: all that is sent in the window arrives behind it.
    window_end_ = std::min({started_ + 1 + plan_->window, until + 1, next_change()});
  }
  pool_.run(plan_->num_partitions(), [&](std::uint32_t i) {
    if (opens) partitions_[i].open_window(window_end_);
    if (to_completion && partitions_[i].programs()->open_work().done()) {
      stops_[i] = Stop::kDone;
    } else {
      advance(i, window_end_, to_completion);
    }
  });
  if (any(stops_, Stop::kDone)) {
    const Tick end = end_of_those_done();
    pool_.run(plan_->num_partitions(), [&](std::uint32_t i) {
      if (stops_[i] == Stop::kDone) advance(i, end, false);
    });
  }
  if (any(stops_, Stop::kDecisions)) return false;
  in_window_ = false;
  return true;
}

Tick Network::next_change() const noexcept {
  const LinkChanges* const changes = plan_->options.changes.get();
  if (changes == nullptr || changed_ == changes->changes().size()) return Blueprint::kNeverTick;
  return plan_->to_tick(changes->changes()[changed_].time_ps);
}

void Network::change_links() {
  for (; next_change() <= started_ + 1; ++changed_) {
    const Tick now = started_ + 1;
    const LinkChanges& changes = *plan_->options.changes;
    const auto [time_ps, state, notice] = changes.changes()[changed_];
    const LinkChanges::Ports& ports = changes.ports(state);
    if (!notice) {
      for (Partition& partition : partitions_) partition.switch_links(ports, now);
      continue;
    }
    plan_->know(state);
    if (plan_->deciders.learner != nullptr) {
      plan_->deciders.learner->change_links(ports.failed, ports.returned);
    }
    for (Partition& partition : partitions_) partition.leave_ports(ports.failed, now);
  }
}

Tick Network::end_of_those_done() {
  if (any(stops_, Stop::kEnd)) return window_end_;
  if (any(stops_, Stop::kDecisions)) {  // the workload is not complete before these decisions
    return std::ranges::max_element(partitions_, {}, &Partition::cursor)->cursor();
  }
  if (complete()) window_end_ = last_progress() + 1;
  return window_end_;
}

RunEnd Network::run(Tick until, const std::function<bool()>& keep_going, RunGoal goal) {
  RunEnd result = RunEnd::kFinished;
  if (!in_window_) {
    if (const auto end = ended(goal)) return *end;
  }
  while (in_window_ || (skip_silence(until), started_ < until)) {
    if (!run_window(until, goal)) return RunEnd::kDecisions;
    started_ = window_end_ - 1;
    now_ = started_;
    if (now_ - last_watch_ >= plan_->timing.watchdog) watch();
    if (const auto end = ended(goal)) return *end;
    if (!keep_going()) {
      result = RunEnd::kInterrupted;
      break;
    }
  }
  now_ = std::max(now_, std::min(started_, until));
  for (Partition& partition : partitions_) partition.settle(now_);
  return result;
}

Tick Network::clock() const noexcept {
  Tick latest = now_;
  if (!in_window_) return latest;
  for (const Partition& partition : partitions_) latest = std::max(latest, partition.clock());
  return latest;
}

void Network::start_external() {
  for (Partition& partition : partitions_) partition.start_external();
}

void Network::select(const PacketSelection& requested) {
  for (Partition& partition : partitions_) partition.pending().select(requested);
}

void Network::skip_silence(Tick until) {
  Tick next = until + 1;
  for (const Partition& partition : partitions_) {
    if (partition.in_network() > 0) return;
  }
  for (const Partition& partition : partitions_) {
    if (!partition.silent()) return;
    next = std::min(next, partition.next_message());
  }
  if (messages_wait()) return;
  next = std::min(next, next_change());
  if (next <= started_ + 1) return;
  for (Partition& partition : partitions_) partition.skip_to(next);
  started_ = next - 1;
  now_ = started_;
}

bool Network::messages_wait() const noexcept {
  return std::ranges::any_of(partitions_, [](const Partition& partition) {
    const PartitionMessages& messages_out = partition.state().messages_out;
    return !messages_out.packets.empty() || !messages_out.credits.empty();
  });
}

bool Network::complete() const noexcept {
  if (!plan_->workload->ends()) return false;  // endless jobs alone go on
  std::int64_t in_flight = 0;
  for (const Partition& partition : partitions_) {
    const OpenWork& work = partition.programs()->open_work();
    if (work.unfinished > 0) return false;
    in_flight += work.in_flight;
  }
  return in_flight == 0;
}

Tick Network::last_progress() const noexcept {
  Tick latest = 0;
  for (const Partition& partition : partitions_) {
    latest = std::max(latest, partition.programs()->open_work().last_progress);
  }
  return latest;
}

std::string Network::describe_unfinished() const {
  std::uint64_t tasks = 0;
  std::string first;
  for (const Partition& partition : partitions_) {
    tasks += partition.programs()->open_work().unfinished;
    if (first.empty()) first = partition.programs()->describe_unfinished();
  }
  return std::to_string(tasks) + (tasks == 1 ? " task is" : " tasks are") + " not finished: " + first;
}

bool Network::over() const noexcept {
  for (const Partition& partition : partitions_) {
    if (partition.in_network() > 0) return false;
  }
  for (const Partition& partition : partitions_) {
    if (!partition.silent() || partition.next_message() != Blueprint::kNeverTick) return false;
  }
  return !messages_wait();
}

std::uint64_t Network::delivered_ever() const noexcept {
  std::uint64_t total = 0;
  for (const Partition& partition : partitions_) total += partition.delivered_ever();
  return total;
}

Tick Network::last_delivery() const noexcept {
  Tick latest = 0;
  for (const Partition& partition : partitions_) latest = std::max(latest, partition.last_delivery());
  return latest;
}

std::optional<RunEnd> Network::ended(RunGoal goal) const noexcept {
  if (goal == RunGoal::kTime) return std::nullopt;
  if (complete()) return RunEnd::kComplete;
  if (over()) return RunEnd::kStuck;
  return std::nullopt;
}

void Network::receive_messages() {
  for (Partition& partition : partitions_) partition.receive(partitions_, now_);
  for (Partition& partition : partitions_) partition.clear_messages();
}

void Network::stop_generating() {
  for (Partition& partition : partitions_) partition.stop_generating(now_);
}

void Network::set_job_policies(std::uint32_t job, const JobPolicies& policies) {
  if (plan_->workload == nullptr || job >= plan_->workload->jobs().size()) {
    throw ConfigError{"job", std::to_string(job), "a job of this run"};
  }
  for (const std::uint8_t policy : policies) {
    if (policy >= plan_->deciders.policies.size()) {
      throw ConfigError{"policies", std::to_string(policy), "the number of a policy of this run"};
    }
  }
  for (Partition& partition : partitions_) partition.set_job_policies(job, policies);
}

std::uint64_t Network::in_network() const noexcept {
  std::uint64_t total = 0;
  for (const Partition& partition : partitions_) {
    total += partition.in_network() + partition.state().messages_out.packets.size();
  }
  return total;
}

SourceQueue Network::source_queues() {
  SourceQueue all;
  for (Partition& partition : partitions_) all += partition.source_queues(counted_until(partition));
  return all;
}

std::uint64_t Network::packet_time_ps(TimePs now_ps) {
  const TimePs quantum_ps = plan_->timing.quantum_ps;
  const Tick now = now_ps / quantum_ps;  // nothing happens from there to now_ps
  const SourceQueue queues = source_queues();
  std::uint64_t time = queues.waited(now);
  std::uint64_t packets = queues.created;
  for (const Partition& partition : partitions_) {
    const PartitionState& s = partition.state();
    const std::uint64_t inside =
        s.injected_ever - s.delivered_ever;  // modulo 2^64: of all partitions the sum counts
    time += s.packet_time + inside * static_cast<std::uint64_t>(now);
    packets += inside;
  }
  return time * static_cast<std::uint64_t>(quantum_ps) +
         packets * static_cast<std::uint64_t>(now_ps % quantum_ps);
}

void Network::watch() {
  last_watch_ = now_;
  const std::string report = watchdog_.check(partitions_);
  if (report.empty()) return;
  throw DeadlockError{"no progress for " + std::to_string(plan_->to_ps(plan_->timing.watchdog) / kPsPerNs) +
                      " ns (at " + std::to_string(plan_->to_ps(now_) / kPsPerNs) + " ns): " + report};
}

void Network::check_invariants() {
  std::string report;
  std::vector<InvariantCheck::CreditsInUse> use;
  std::vector<InvariantCheck> audits;
  for (const Partition& partition : partitions_) audits.emplace_back(partition.state());
  for (const InvariantCheck& audit : audits) {
    report += audit.check_inside();
    use.push_back(audit.none_in_use());
  }
  for (const InvariantCheck& audit : audits) audit.count_credits(use);
  for (const Partition& partition : partitions_) {
    for (const PartitionMessages::SentPacket& sent : partition.state().messages_out.packets) {
      audits[sent.to].count_arriving(sent.input_vc, use);
    }
  }
  for (std::size_t i = 0; i < audits.size(); ++i) report += audits[i].compare_credits(use[i]);

  std::uint64_t injected = 0;
  std::uint64_t delivered = 0;
  std::int64_t messages = 0;  // messages in flight to another partition, which has not received them yet
  for (const Partition& partition : partitions_) {
    injected += partition.injected_ever();
    delivered += partition.delivered_ever();
    if (partition.programs() == nullptr) continue;
    const OpenWork& work = partition.programs()->open_work();
    messages += work.in_flight - work.expected - static_cast<std::int64_t>(work.sent_elsewhere.size());
  }
  for (const Partition& partition : partitions_) {
    for (const std::uint32_t announced : partition.state().messages_out.messages) messages -= announced;
  }
  if (messages != 0) {
    report += "\n  " + std::to_string(messages) + " messages are in flight and were not announced";
  }
  if (injected != delivered + in_network()) {
    report += "\n  injected " + std::to_string(injected) + " packets, delivered " +
              std::to_string(delivered) + ", in the network " + std::to_string(in_network());
  }
  if (!report.empty()) throw std::logic_error{"invariants do not hold:" + report};
}

}  // namespace dragonfly
