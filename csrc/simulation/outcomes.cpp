#include "simulation/outcomes.hpp"

#include <algorithm>
#include <tuple>

namespace dragonfly {

template <class Visit>
void Outcomes::count_generated(Visit visit) {
  const Dragonfly& topology = plan_.paths.topology();
  for (Partition& partition : network_.partitions()) {
    const PartitionState& s = partition.state();
    for (std::uint32_t host = 0; host < s.num_hosts; ++host) {
      const SourceQueue queue = partition.source_queue(host, network_.counted_until(partition));
      visit(topology.router_of_host(s.first_host + host), s.hosts[host].number + queue.packets,
            queue.created);
    }
  }
}

void Outcomes::begin(TimePs begin_ps) {
  const std::size_t routers = plan_.paths.topology().num_routers();
  generated_before_.assign(routers, 0);
  begun_ps_.assign(routers, 0);
  if (begin_ps == 0) return;  // messages generated at time 0 belong to the episode
  const Tick begin = begin_ps / plan_.quantum_ps;
  count_generated([&](std::uint32_t router, std::uint64_t packets, std::uint64_t waiting) {
    generated_before_[router] += static_cast<std::int64_t>(packets);
    begun_ps_[router] += static_cast<std::int64_t>(waiting) * (begin_ps % plan_.quantum_ps);
  });
  for (Partition& partition : network_.partitions()) {
    RouterTallies& tallies = partition.pending().tallies();
    tallies.begin(begin);
    for (std::size_t router = 0; router < routers; ++router) {
      begun_ps_[router] += tallies.all()[router].held * (begin_ps % plan_.quantum_ps);
    }
  }
}

void Outcomes::limit_kept() {
  limit_outcomes();
  limit_reports();
  if (overflowed_ || !keeps_transitions_) return;
  std::uint64_t bytes = 0;
  for (Partition& partition : network_.partitions()) bytes += partition.pending().log().bytes();
  if (static_cast<double>(bytes) <= most_bytes_) return;
  overflowed_ = true;
  for (Partition& partition : network_.partitions()) partition.pending().stop_keeping();
}

void Outcomes::truncate(Tick now) {
  for (Partition& partition : network_.partitions()) {
    partition.state().for_each_packet(
        [&](std::uint32_t packet) { partition.pending().truncate(packet, now); });
  }
}

void Outcomes::settle(TimePs end_ps, std::int64_t* reward_ps) {
  const Dragonfly& topology = plan_.paths.topology();
  for (Partition& partition : network_.partitions()) {
    const PartitionState& s = partition.state();
    const RouterTallies& tallies = partition.pending().tallies();
    const auto charge = [&](std::uint32_t router, Tick since) {
      reward_ps[router] -= end_ps - std::max(since, tallies.begin()) * plan_.quantum_ps;
    };
    const auto credit = [&](std::uint32_t host, Tick created) {
      const TimePs age_ps = end_ps - created * plan_.quantum_ps;
      const TimePs credit_ps = std::min(tallies.credit() * plan_.quantum_ps, age_ps);
      reward_ps[topology.router_of_host(host)] += credit_ps - tallies.credited(created) * plan_.quantum_ps;
    };
    s.for_each_packet([&](std::uint32_t i) {
      const Tick created = s.store.times[i].created;
      const PendingDecisions::Holder holder = partition.pending().holder(i, s.store.packets[i], created);
      charge(holder.router, holder.since);
      credit(s.store.packets[i].source_host, created);
    });
    for (std::uint32_t host = 0; host < s.num_hosts; ++host) {
      partition.visit_source_queue(host, network_.now(), [&](Tick entered) {
        charge(topology.router_of_host(s.first_host + host), entered);
        credit(s.first_host + host, entered);
      });
    }
  }
}

void Outcomes::read_tallies(const TallyColumns& to, std::optional<TimePs> end_ps) {
  const std::size_t routers = plan_.paths.topology().num_routers();
  std::copy_n(begun_ps_.data(), routers, to.reward_ps);
  std::fill_n(to.delivered, routers, 0);
  for (Partition& partition : network_.partitions()) {
    const std::vector<RouterTally>& tallies = partition.pending().tallies().all();
    for (std::size_t router = 0; router < routers; ++router) {
      to.reward_ps[router] += tallies[router].reward_ticks * plan_.quantum_ps;
      to.delivered[router] += tallies[router].delivered;
    }
  }
  if (end_ps) settle(*end_ps, to.reward_ps);
  for (std::size_t router = 0; router < routers; ++router) to.generated[router] = -generated_before_[router];
  count_generated([&](std::uint32_t router, std::uint64_t packets, std::uint64_t) {
    to.generated[router] += static_cast<std::int64_t>(packets);
  });
}

void Outcomes::set_credit(TimePs credit_ps) {
  for (Partition& partition : network_.partitions()) {
    partition.pending().tallies().set_credit(credit_ps / plan_.quantum_ps);
  }
}

TimePs Outcomes::latency_ps() {
  Tick total = 0;
  for (Partition& partition : network_.partitions()) total += partition.pending().tallies().latency();
  return total * plan_.quantum_ps;
}

void Outcomes::read_load(float* into, std::size_t stride, float half) {
  const Dragonfly& topology = plan_.paths.topology();
  std::vector<std::int64_t> counts(std::size_t{topology.num_routers()} * 2, 0);  // held, queued
  for (Partition& partition : network_.partitions()) {
    const PartitionState& s = partition.state();
    const std::vector<RouterTally>& tallies = partition.pending().tallies().all();
    for (std::size_t router = 0; router < tallies.size(); ++router)
      counts[router * 2] += tallies[router].held;
    const Tick now = network_.counted_until(partition);
    for (std::uint32_t host = 0; host < s.num_hosts; ++host) {
      counts[std::size_t{topology.router_of_host(s.first_host + host)} * 2 + 1] +=
          static_cast<std::int64_t>(partition.source_queue(host, now).packets);
    }
    for (std::uint32_t router = 0; router < s.num_routers; ++router) {
      float* const row = into + (s.first_router + router) * stride;
      for (std::uint32_t group = 0; group < topology.num_groups(); ++group) {
        const auto n = static_cast<float>(partition.pending().arrivals().count(router, group, now));
        row[2 + group] = n / (n + half);
      }
    }
  }
  for (std::uint32_t router = 0; router < topology.num_routers(); ++router) {
    for (std::size_t k = 0; k < 2; ++k) {
      const auto n = static_cast<float>(counts[std::size_t{router} * 2 + k]);
      into[router * stride + k] = n / (n + half);
    }
  }
}

void Outcomes::limit_reports() {
  if (!keeps_feedback_ || reports_overflowed_) return;
  if (static_cast<double>(reports() * sizeof(HopReport)) <= most_bytes_) return;
  reports_overflowed_ = true;
  for (Partition& partition : network_.partitions()) partition.pending().reports().stop_keeping();
}

std::size_t Outcomes::transitions() {
  std::size_t total = 0;
  for (Partition& partition : network_.partitions()) total += partition.pending().log().size();
  return total;
}

void Outcomes::take_transitions(const TransitionColumns& to) {
  const std::uint32_t features = plan_.layout.num_features();
  const std::uint32_t actions = plan_.num_actions;
  order();
  for (std::size_t at = 0; at < order_.size(); ++at) {
    if (at + DecisionOrder::kAhead < order_.size()) {
      const DecisionOrder::Row& later = order_[at + DecisionOrder::kAhead];
      network_.partitions()[later.partition].pending().log().prefetch_row(later.index);
    }
    const DecisionOrder::Row& from = order_[at];
    TransitionLog& log = network_.partitions()[from.partition].pending().log();
    const std::uint32_t i = from.index;
    const CompletedDecision& head = log.heads()[i];
    to.ids[at] = head.id;
    to.next_ids[at] = head.next_id;
    to.agents[at] = head.agent;
    to.next_agents[at] = head.next_agent;
    to.actions[at] = head.action;
    to.reward[at] = reward_of(head.leg);
    to.latency_ns[at] = plan_.to_ns(head.leg);
    to.times_ns[at] = plan_.to_ns(head.feedback);
    to.decision_times_ns[at] = plan_.to_ns(head.time);
    to.done[at] = head.next_agent < 0 && head.truncated == 0;
    to.truncated[at] = head.truncated != 0;
    plan_.rows.unpack(log.row(i), to.observations + at * features, to.mask + at * actions);
    if (head.next_agent < 0) {
      std::fill_n(to.next_observations + at * features, features, 0.0F);
      std::fill_n(to.next_mask + at * actions, actions, std::uint8_t{0});
    } else {
      plan_.rows.unpack(log.next_row(i), to.next_observations + at * features, to.next_mask + at * actions);
    }
  }
  for (Partition& partition : network_.partitions()) partition.pending().log().clear();
}

void Outcomes::order() {
  order_.clear();
  std::uint32_t number = 0;
  for (Partition& partition : network_.partitions()) {
    const TransitionLog& log = partition.pending().log();
    for (std::size_t i = 0; i < log.size(); ++i) {
      order_.add({log.heads()[i].id, number, static_cast<std::uint32_t>(i)});
    }
    ++number;
  }
  order_.sort(network_.blueprint().topology.num_hosts());
}

void Outcomes::limit_outcomes() {
  if (!keeps_outcomes_ || outcomes_overflowed_) return;
  if (static_cast<double>(outcomes() * sizeof(DecisionOutcome)) <= most_bytes_) return;
  outcomes_overflowed_ = true;
  for (Partition& partition : network_.partitions()) partition.pending().outcomes().stop_keeping();
}

std::size_t Outcomes::outcomes() {
  std::size_t total = 0;
  for (Partition& partition : network_.partitions()) total += partition.pending().outcomes().size();
  return total;
}

void Outcomes::take_outcomes(const OutcomeColumns& to) {
  merged_outcomes_.clear();
  for (Partition& partition : network_.partitions()) {
    OutcomeLog& log = partition.pending().outcomes();
    merged_outcomes_.insert(merged_outcomes_.end(), log.data(), log.data() + log.size());
    log.clear();
  }
  std::ranges::sort(merged_outcomes_, {},
                    [](const DecisionOutcome& outcome) { return std::tuple{outcome.agent, outcome.id}; });
  for (std::size_t i = 0; i < merged_outcomes_.size(); ++i) {
    const DecisionOutcome& outcome = merged_outcomes_[i];
    to.ids[i] = outcome.id;
    to.next_ids[i] = outcome.next_id;
    to.agents[i] = outcome.agent;
    to.reward[i] = reward_of(outcome.leg);
    to.truncated[i] = outcome.truncated != 0;
  }
}

std::size_t Outcomes::reports() {
  std::size_t total = 0;
  for (Partition& partition : network_.partitions()) total += partition.pending().reports().size();
  return total;
}

void Outcomes::take_reports(const ReportColumns& to) {
  merged_.clear();
  for (Partition& partition : network_.partitions()) {
    HopReports& reports = partition.pending().reports();
    merged_.insert(merged_.end(), reports.data(), reports.data() + reports.size());
    reports.clear();
  }
  std::ranges::sort(merged_, {}, [](const HopReport& report) {
    return std::tuple{report.when, report.agent, report.port};
  });
  for (std::size_t i = 0; i < merged_.size(); ++i) {
    const HopReport& report = merged_[i];
    to.ids[i] = report.id;
    to.next_ids[i] = report.next_id;
    to.agents[i] = report.agent;
    to.ports[i] = report.port;
    to.travel_ns[i] = plan_.to_ns(report.travel);
    to.times_ns[i] = plan_.to_ns(report.when);
  }
}

}  // namespace dragonfly
