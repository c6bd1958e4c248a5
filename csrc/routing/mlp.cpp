#include <algorithm>
#include <array>
#include <cassert>
#include <optional>

#include "core/fixed_list.hpp"
#include "core/parameters.hpp"
#include "routing/choices.hpp"
#include "routing/neural/choice.hpp"
#include "routing/neural/row_scorer.hpp"
#include "routing/neural/scoring_network.hpp"
#include "routing/policy.hpp"

namespace dragonfly {

namespace {

// A neural network routes: it scores the legal actions of all decisions of a time together, layer by layer.
// Every sum has a fixed order, which no other row changes, so results depend on the row alone. Source: this
// project; scoring one candidate after the other with the same weights, so that one file fits every size of
// network, as pointer networks do (Vinyals, Fortunato, Jaitly, NIPS 2015).
class Mlp final : public RoutingPolicy {
 public:
  Mlp(NetworkPtr network, bool avoid_destination_group)
      : network_{std::move(network)}, spec_{network_->spec} {
    spec_.avoid_destination_group = avoid_destination_group;
    for (const std::string& name : spec_.tracked) {
      static_cast<void>(add_request(trackers_, request_tracker(find_tracked_feature(name), Parameters{})));
    }
  }

  [[nodiscard]] DecisionScope scope() const noexcept override { return spec_.scope; }
  [[nodiscard]] PathBudget budget() const noexcept override { return spec_.budget(); }
  [[nodiscard]] std::vector<NonMinimalKind> nonminimal_kinds() const override {
    return spec_.action == ActionMode::kPath ? spec_.nonminimal_kinds : std::vector<NonMinimalKind>{};
  }
  [[nodiscard]] AfterRefusal after_refusal() const noexcept override { return AfterRefusal::kKeep; }
  [[nodiscard]] std::vector<TrackerRequest> trackers() const override { return trackers_; }
  [[nodiscard]] const DecisionSpec* sees() const noexcept override { return &spec_; }

  void prepare_rows(const ObservationPlan& plan) override {
    scorer_.emplace(*network_, plan.layout, plan.num_actions);
    if (spec_.second_stage) {
      further_scorer_.emplace(*network_, *plan.further_layout, spec_.num_further_candidates());
      shared_columns_.clear();
      for (const FeatureBlock& block : plan.further_layout->blocks()) {
        if (block.per == name_of(FeaturePer::kCandidate)) continue;
        const FeatureBlock& shown = *plan.layout.find(block.name);
        shared_columns_.push_back({.from = shown.offset, .to = block.offset, .width = block.width});
      }
    }
    plan_ = &plan;
  }

  void decide(std::span<const DecisionContext> decisions, std::span<RouteChoice> choices) const override {
    std::vector<float>& scratch = decisions.front().view().scratch;
    std::size_t needed = scorer_->scratch_floats();
    if (spec_.second_stage) {
      needed = std::max(needed, further_scorer_->scratch_floats() + plan_->further_layout->num_features());
    }
    if (scratch.size() < needed) scratch.resize(needed);
    for (std::size_t first = 0; first < decisions.size();) {
      first += decide_some(decisions.subspan(first), choices.subspan(first), scratch.data());
    }
  }

 private:
  // Returns the number of decisions made.
  std::size_t decide_some(std::span<const DecisionContext> decisions, std::span<RouteChoice> choices,
                          float* scratch) const {
    std::array<Found, neural::RowScorer::kRows> again;  // decisions to score in the second stage
    std::size_t num_again = 0;
    const std::size_t count = scorer_->score_some(
        decisions.size(), scratch,
        [&](std::size_t i) { return neural::DecisionRow{decisions[i].row(), decisions[i].mask()}; },
        [&](std::size_t i, const float* scores) {
          const std::uint32_t action = chosen(decisions[i], decisions[i].mask(), scores);
          choices[i] = choice_of_action(decisions[i].candidates(), action);
          if (spec_.second_stage && action >= spec_.minimal_candidates) {
            again[num_again++] = {i, action, scores[action]};
          }
        });
    for (const Found& found : std::span{again}.first(num_again)) {
      second_stage(decisions[found.decision], found, scratch, choices[found.decision]);
    }
    return count;
  }

  // The best of the paths that a decision showed.
  struct Found {
    std::size_t decision;
    std::uint32_t action;
    float score;
  };

  // Called after a non-minimal path was the best path: scores the paths behind the first ones of each kind.
  // Changes the choice if one of them is better still, or as good and of an earlier kind, as if all had been
  // shown at once.
  void second_stage(const DecisionContext& decision, const Found& found, float* scratch,
                    RouteChoice& choice) const {
    FixedList<Candidate, kMostPaths> room;  // an array would initialize all places at each call
    while (room.size() < spec_.num_further_candidates()) room.add();
    Candidate* const candidates = room.all().data();
    std::array<std::uint8_t, kMostPaths> mask;
    if (path_choices(*plan_, decision, false, {}, spec_.further_paths(), mask.data(), candidates) == 0)
      return;
    float* const row = scratch + further_scorer_->scratch_floats();
    for (const SharedColumns& columns : shared_columns_) {
      std::copy_n(decision.row() + columns.from, columns.width, row + columns.to);
    }
    plan_->further_layout->fill_paths(row, decision, candidates);
    further_scorer_->score_some(
        1, scratch, [&](std::size_t) { return neural::DecisionRow{row, mask.data()}; },
        [&](std::size_t, const float* scores) {
          const std::uint32_t further =
              neural::best_legal(scores, mask.data(), spec_.num_further_candidates());
          const float score = scores[further];
          const std::uint32_t kind_of_found = found.action - spec_.minimal_candidates;
          const std::uint32_t kind = further / spec_.further_paths().of_a_kind();
          if (score < found.score || (score == found.score && kind >= kind_of_found)) return;
          choice = choice_of_action(candidates, further);
        });
  }

  [[nodiscard]] std::uint32_t chosen(const DecisionContext& decision, const std::uint8_t* mask,
                                     const float* scores) const {
    std::uint32_t action = 0;
    if (network_->temperature > 0) {
      RandomStream draws = decision.learning_stream();
      action = neural::drawn_legal(scores, mask, plan_->num_actions, network_->temperature, draws.uniform());
    } else {
      action = neural::best_legal(scores, mask, plan_->num_actions);
    }
    assert(mask[action] != 0);
    return action;
  }

  // `candidates`: of paths.
  [[nodiscard]] RouteChoice choice_of_action(const Candidate* candidates, std::uint32_t action) const {
    if (spec_.action == ActionMode::kPath) return dragonfly::choice_of_action(candidates[action]);
    return {.port = static_cast<Port>(plan_->first_port + action)};
  }

  NetworkPtr network_;
  DecisionSpec spec_;
  std::vector<TrackerRequest> trackers_;
  const ObservationPlan* plan_ = nullptr;
  std::optional<neural::RowScorer> scorer_;
  std::optional<neural::RowScorer> further_scorer_;  // rows of the second stage, if there is one
  // Columns that do not depend on the paths, in rows of the first and of the second stage.
  struct SharedColumns {
    std::uint32_t from;
    std::uint32_t to;
    std::uint32_t width;
  };
  std::vector<SharedColumns> shared_columns_;
};

std::unique_ptr<RoutingPolicy> make_mlp(const PolicyInfo& info, const Parameters& given,
                                        const PolicyEnvironment& environment) {
  return std::make_unique<Mlp>(
      network_parameter(info, given, "weights"),
      NonMinimalParams{info, given, environment.avoid_destination_group}.avoid_destination_group);
}

}  // namespace

std::vector<PolicyInfo> mlp_policies() {
  std::vector<ParameterInfo> trained = nonminimal_parameters();
  trained.push_back({"weights", NetworkPtr{}, "", "the network: a file of weights"});
  std::vector<ParameterInfo> given = trained;
  given.push_back({"sha256", std::string{"network"}, "", "digest of the weights' file; unset: any file"});
  const std::string shipped = "a trained neural network of the package, which scores candidate paths";
  return {{"mlp", "a neural network from a file, which scores the legal ports or paths", "this project",
           "source", "path", std::move(given), make_mlp},
          {"neural-v1", shipped, "this project", "source", "path", trained, make_mlp},
          {"neural-v2", shipped, "this project", "progressive", "path", trained, make_mlp},
          {"neural-v3", shipped, "this project", "progressive-busy", "path", trained, make_mlp}};
}

}  // namespace dragonfly
