// The policies that decide in a network: whom a packet's router calls, and what such a policy reads.
//
// The policy of the run decides about all packets, except where a job of the workload brought a policy of its
// own; with decisions from outside, an environment decides, and the background policy about the packets that
// the environment does not want. Routers hold VCs and trackers for all of them from the start.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "decisions/decision_plan.hpp"
#include "routing/learning.hpp"
#include "routing/path_follower.hpp"
#include "routing/policy.hpp"

namespace dragonfly {

// A policy at work in a network.
struct Decider {
  RoutingPolicy* policy = nullptr;  // never null
  DecisionScope scope = DecisionScope::kNowhere;
  AfterRefusal after_refusal = AfterRefusal::kKeep;
  std::vector<std::uint8_t> trackers;     // positions of its trackers among the running ones, in its order
  std::unique_ptr<ObservationPlan> seen;  // the rows that its decisions show; null: no rows
};

// A policy that a job brings along; it must outlive the blueprint.
struct JobPolicy {
  std::string field;  // name of the field in messages: "jobs[2].policy"
  std::string name;
  RoutingPolicy* policy = nullptr;
};

// Decisions from outside, if there are any.
struct OutsideDecisions {
  const std::optional<EnvironmentSpec>& decisions;
  bool after_warm_up = false;  // the core's policy routes the packets before
};

class Deciders {
 public:
  // Throws ConfigError. The policies must outlive the object. The arguments are those of Blueprint;
  // `decide_at`: NetworkParams::decide_at.
  Deciders(const Dragonfly& topology, RoutingPolicy& first, const std::vector<JobPolicy>& of_jobs,
           RoutingPolicy* background, const std::vector<JobPolicy>& later, const OutsideDecisions& outside,
           const std::string& decide_at);

  // Makes the plans of the rows that decisions show, once the VCs of all paths are numbered.
  // `paths` must outlive the object.
  void plan_rows(const PathFollower& paths, const BufferSizes& buffers, TimePs quantum_ps,
                 const OutsideDecisions& outside);

  // Between windows: links have failed or returned.
  void list_links();

  // The policy of the run, then those of jobs. MessagePart::policy is the index of a packet's policy.
  std::vector<Decider> policies;
  std::optional<Decider> background;              // next to decisions from outside
  std::unique_ptr<DecisionPlan> outside;          // null: policies alone route
  LearningPolicy* learner;                        // the first policy, if it learns; else null
  DecisionScope scope = DecisionScope::kNowhere;  // scope of the first policy
  std::optional<AfterRefusal> after_refusal;      // null: each policy's own rule
  // The running trackers: those of policies, then those that only observations show.
  std::vector<TrackerRequest> trackers;
  PathBudget budget;                  // the paths of all of them; the VC ladder is built from it
  std::uint32_t policies_before = 0;  // replaced policies: Decider::seen holds while it is equal

  // Whether the first policy decides for all packets. `external`: decisions come from outside.
  [[nodiscard]] bool one_decides(bool external) const noexcept { return !external && policies.size() == 1; }

  static constexpr std::size_t kMostDeciders = 256;  // MessagePart::policy is a byte

  // Replaces the first policy by another one, which must outlive the blueprint. Throws ConfigError if the VC
  // ladder has no place for its paths: buffers and VCs are there for the policies with which the network was
  // made. A policy that learns can neither be replaced nor take over, because reports are in flight. Trackers
  // run from the start to the end and never restart: a policy is refused if it needs a tracker that does not
  // run, or runs with other parameters. So the trackers keep their counts.
  void replace(const std::string& name, RoutingPolicy& other);
  // A further policy, for jobs, under the conditions that those have which jobs brought along: it must learn
  // nothing and share the rules for VCs; and it must make do with the VCs and the trackers that are there.
  // Returns its number. Throws ConfigError.
  std::uint8_t add(const JobPolicy& other);

 private:
  [[nodiscard]] Decider decider(RoutingPolicy& policy) const;
  [[nodiscard]] AfterRefusal after_refusal_of(const RoutingPolicy& policy) const noexcept {
    return after_refusal.value_or(policy.after_refusal());
  }
  [[nodiscard]] std::vector<std::uint8_t> running_trackers(const std::string& field, const std::string& name,
                                                           const RoutingPolicy& policy) const;
  // The plan of the policy's rows. Throws ConfigError if the policy cannot work with them.
  [[nodiscard]] std::unique_ptr<ObservationPlan> rows_of(RoutingPolicy& policy) const;
  [[nodiscard]] bool has_vcs_for(const RoutingPolicy& policy) const noexcept;

  LocalHops local_hops_;
  const PathFollower* paths_ = nullptr;  // from plan_rows() on, as the next two
  BufferSizes buffers_{};
  TimePs quantum_ps_ = 1;
};

}  // namespace dragonfly
