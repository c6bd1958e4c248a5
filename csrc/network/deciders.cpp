#include "network/deciders.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"

namespace dragonfly {

namespace {

PathBudget union_of(const PathBudget& x, const PathBudget& y) {
  return {.nonminimal = x.nonminimal || y.nonminimal,
          .intermediate_router = x.intermediate_router || y.intermediate_router,
          .reconsiders = x.reconsiders || y.reconsiders,
          .progressive = x.progressive || y.progressive,
          .local_nonminimal = x.local_nonminimal || y.local_nonminimal,
          .own_group_nonminimal = x.own_group_nonminimal || y.own_group_nonminimal,
          .any_port = x.any_port || y.any_port,
          .longest_path = std::max(x.longest_path, y.longest_path)};
}

// Jobs may have any policies that share the rules by which VCs are numbered; there are then VCs for the paths
// of all of them. Learners receive reports about every hop of every packet, whichever policy routed it.
void require_same_rules(const RoutingPolicy& first, bool first_learns, const std::vector<JobPolicy>& others) {
  for (const JobPolicy& other : others) {
    if (other.policy->learner() != nullptr || first_learns) {
      throw ConfigError{
          other.field, "'" + other.name + "'",
          "must learn nothing, nor may the policy of the run, where jobs have different policies"};
    }
    if (other.policy->budget().any_port != first.budget().any_port) {
      throw ConfigError{
          other.field, "'" + other.name + "'",
          "must share the rules for virtual channels with the policy of the run: one of the two "
          "numbers them by hops, as it may take any port"};
    }
  }
}

std::vector<JobPolicy> all_of(const std::vector<JobPolicy>& some, const std::vector<JobPolicy>& others) {
  std::vector<JobPolicy> all = some;
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

PathBudget needed_budget(const Dragonfly& topology, const RoutingPolicy& policy,
                         const OutsideDecisions& outside, const std::vector<JobPolicy>& others,
                         const RoutingPolicy* background) {
  const LocalHops& local_hops = topology.longest_local();
  PathBudget budget = policy.budget().with_local_paths(local_hops);
  for (const JobPolicy& other : others) {
    budget = union_of(budget, other.policy->budget().with_local_paths(local_hops));
  }
  if (outside.decisions) {
    const PathBudget needed = outside.decisions->budget_on(topology);
    budget = outside.after_warm_up ? union_of(budget, needed) : needed;
    if (background != nullptr) {  // its paths may be no candidates of the outside policy
      const PathBudget own = background->budget();
      budget = union_of(budget, own.any_port ? own : own.with_local_paths(local_hops));
    }
  }
  return budget;
}

// Adds the trackers that the background policy needs.
void add_needs_of(const RoutingPolicy& background, std::vector<TrackerRequest>& all) {
  for (const TrackerRequest& requested : background.trackers()) {
    if (!add_request(all, requested)) {
      throw ConfigError{"background", "'" + requested.info->name + "'",
                        "must have the parameters of this tracker that the policy has which routes the "
                        "warm-up: routers remember it once"};
    }
  }
}

// With the parameters given, else those that the policy has for it, else the defaults.
TrackerRequest tracker_of_feature(const TrackedFeature& feature, const DecisionSpec& spec,
                                  const std::vector<TrackerRequest>& of_policy) {
  const auto given = spec.trackers.find(feature.tracker->name);
  if (given != spec.trackers.end()) return request_tracker(feature, given->second);
  const auto own = std::ranges::find(of_policy, feature.tracker, &TrackerRequest::info);
  return request_tracker(feature, own != of_policy.end() ? own->parameters : Parameters{});
}

std::vector<TrackerRequest> needed_trackers(const RoutingPolicy& policy, const OutsideDecisions& outside,
                                            const std::vector<JobPolicy>& others,
                                            const RoutingPolicy* background) {
  const std::vector<TrackerRequest> of_policy = policy.trackers();
  std::vector<TrackerRequest> all;
  if (!outside.decisions || outside.after_warm_up) {
    all = of_policy;
    for (const JobPolicy& other : others) {
      for (const TrackerRequest& requested : other.policy->trackers()) {
        if (!add_request(all, requested)) {
          throw ConfigError{other.field, "'" + other.name + "'",
                            "must have the parameters of '" + requested.info->name +
                                "' that other policies of this run have: routers remember it once"};
        }
      }
    }
  }
  if (!outside.decisions) return all;
  if (background != nullptr) add_needs_of(*background, all);
  const DecisionSpec& spec = *outside.decisions;
  for (const std::string& name : spec.tracked) {
    const TrackerRequest requested = tracker_of_feature(find_tracked_feature(name), spec, of_policy);
    if (!add_request(all, requested)) {
      throw ConfigError{
          "trackers", "'" + requested.info->name + "'",
          "must have the parameters of the policy that routes the warm-up, or the other packets"};
    }
  }
  for (const auto& [name, parameters] : spec.trackers) {
    const TrackerInfo& info = find_tracker(name);
    if (std::ranges::find(all, &info, &TrackerRequest::info) == all.end()) {
      throw ConfigError{"trackers", "'" + name + "'", "must be one that a feature shows"};
    }
  }
  return all;
}

// Positions of the policy's trackers among the running ones; fewer if one of them does not run with the
// parameters that the policy needs.
std::vector<std::uint8_t> positions_in(const std::vector<TrackerRequest>& running,
                                       const RoutingPolicy& policy) {
  std::vector<std::uint8_t> positions;
  for (const TrackerRequest& request : policy.trackers()) {
    const auto at =
        std::ranges::find_if(running, [&](const TrackerRequest& each) { return each.includes(request); });
    if (at != running.end()) positions.push_back(static_cast<std::uint8_t>(at - running.begin()));
  }
  return positions;
}

// Null: each policy's own rule. A decision from outside is one step of a packet and is never taken back, so a
// head keeps it after a refusal.
std::optional<AfterRefusal> parse_after_refusal(const std::string& decide_at, bool decisions_from_outside) {
  if (decide_at == "attempt") return AfterRefusal::kNewPath;
  if (decide_at == "retry-same-paths") return AfterRefusal::kSamePath;
  if (decide_at == "by-policy" && !decisions_from_outside) return std::nullopt;
  return AfterRefusal::kKeep;
}

// Throws if source routers alone decide, and no non-minimal path of theirs ever exists: each would begin on a
// global link of the source router, which has none.
void require_paths(const Dragonfly& topology, const EnvironmentSpec& spec) {
  const bool at_source = spec.scope == DecisionScope::kSource || spec.scope == DecisionScope::kSourceAll ||
                         spec.scope == DecisionScope::kSourceAround;
  const auto starts_on_own_link = [](NonMinimalKind kind) {
    return kind == NonMinimalKind::kGl || kind == NonMinimalKind::kG;
  };
  if (spec.action != ActionMode::kPath || !at_source || topology.hosts_meet_global_links() ||
      spec.nonminimal_kinds.empty() || !std::ranges::all_of(spec.nonminimal_kinds, starts_on_own_link)) {
    return;
  }
  throw ConfigError{"nonminimal_kinds", "'g' and 'gl' alone",
                    "must have 'lg', 'lgl' or 'l', too: no router with hosts has a global link of its own"};
}

}  // namespace

Deciders::Deciders(const Dragonfly& topology, RoutingPolicy& first, const std::vector<JobPolicy>& of_jobs,
                   RoutingPolicy* background_in, const std::vector<JobPolicy>& later,
                   const OutsideDecisions& outside_in, const std::string& decide_at)
    : learner{first.learner()},
      scope{first.scope()},
      after_refusal{parse_after_refusal(decide_at, outside_in.decisions.has_value())},
      local_hops_{topology.longest_local()} {
  const std::vector<JobPolicy> others = all_of(of_jobs, later);
  require_same_rules(first, learner != nullptr, others);
  if (outside_in.decisions && after_refusal != AfterRefusal::kKeep) {
    // A decision from outside is one step of a packet; there is no place for one that is taken back.
    throw ConfigError{"network.decide_at", "'" + decide_at + "'",
                      "must be 'arrival', 'head' or 'by-policy' where an outside policy decides"};
  }
  if (outside_in.decisions) require_paths(topology, *outside_in.decisions);
  budget = needed_budget(topology, first, outside_in, others, background_in);
  trackers = needed_trackers(first, outside_in, others, background_in);
  policies.reserve(kMostDeciders);  // they stay where they are when others come
  policies.push_back(decider(first));
  for (const JobPolicy& other : of_jobs) policies.push_back(decider(*other.policy));
  if (background_in != nullptr) background.emplace(decider(*background_in));
}

void Deciders::plan_rows(const PathFollower& paths, const BufferSizes& buffers, TimePs quantum_ps,
                         const OutsideDecisions& outside_in) {
  paths_ = &paths;
  buffers_ = buffers;
  quantum_ps_ = quantum_ps;
  if (outside_in.decisions) {
    outside = std::make_unique<DecisionPlan>(*outside_in.decisions, paths, buffers, quantum_ps, trackers);
  }
  if (!outside_in.decisions || outside_in.after_warm_up) {
    for (Decider& each : policies) each.seen = rows_of(*each.policy);
  }
  if (background) background->seen = rows_of(*background->policy);
}

void Deciders::list_links() {
  if (outside) outside->list_links();
  if (background && background->seen) background->seen->list_links();
  for (const Decider& each : policies) {
    if (each.seen) each.seen->list_links();
  }
}

std::unique_ptr<ObservationPlan> Deciders::rows_of(RoutingPolicy& policy) const {
  const DecisionSpec* const spec = policy.sees();
  if (spec == nullptr) return nullptr;
  auto plan = std::make_unique<ObservationPlan>(*spec, *paths_, buffers_, quantum_ps_, trackers);
  policy.prepare_rows(*plan);
  return plan;
}

Decider Deciders::decider(RoutingPolicy& policy) const {
  return {.policy = &policy,
          .scope = policy.scope(),
          .after_refusal = after_refusal_of(policy),
          .trackers = positions_in(trackers, policy),
          .seen = nullptr};
}

std::vector<std::uint8_t> Deciders::running_trackers(const std::string& field, const std::string& name,
                                                     const RoutingPolicy& policy) const {
  std::vector<std::uint8_t> positions = positions_in(trackers, policy);
  if (positions.size() == policy.trackers().size()) return positions;
  throw ConfigError{
      field, "'" + name + "'",
      "must need no tracker that does not run already, with the same parameters, in this simulation"};
}

std::uint8_t Deciders::add(const JobPolicy& other) {
  require_same_rules(*policies.front().policy, learner != nullptr, {other});
  if (!has_vcs_for(*other.policy)) {
    throw ConfigError{other.field, "'" + other.name + "'",
                      "must need no other paths than the policies that the simulation was made with: virtual "
                      "channels are there for those"};
  }
  if (policies.size() == kMostDeciders) {
    throw ConfigError{
        other.field, "'" + other.name + "'",
        "one of the " + std::to_string(kMostDeciders - 1) + " that jobs of this run had before"};
  }
  Decider made = decider(*other.policy);
  made.trackers = running_trackers(other.field, other.name, *other.policy);
  made.seen = rows_of(*other.policy);
  policies.push_back(std::move(made));
  return static_cast<std::uint8_t>(policies.size() - 1);
}

void Deciders::replace(const std::string& name, RoutingPolicy& other) {
  if (learner != nullptr || other.learner() != nullptr ||
      other.budget().any_port != paths_->ladder().budget().any_port || !has_vcs_for(other)) {
    throw ConfigError{
        "policy", "'" + name + "'",
        "must learn nothing and need no other paths than the policies that the simulation was made with "
        "(policy, allowed_policies): virtual channels are there for those"};
  }
  Decider made = decider(other);
  made.trackers = running_trackers("policy", name, other);
  made.seen = rows_of(other);
  policies.front() = std::move(made);
  scope = policies.front().scope;
  ++policies_before;
}

bool Deciders::has_vcs_for(const RoutingPolicy& policy) const noexcept {
  const PathBudget& there = paths_->ladder().budget();
  return union_of(there, policy.budget().with_local_paths(local_hops_)) == there;
}

}  // namespace dragonfly
