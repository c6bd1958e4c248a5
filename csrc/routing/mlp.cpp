#include <algorithm>
#include <array>
#include <cassert>

#include "core/parameters.hpp"
#include "routing/choices.hpp"
#include "routing/neural/choice.hpp"
#include "routing/neural/scoring_network.hpp"
#include "routing/policy.hpp"

namespace dragonfly {

namespace {

// A neural network routes: it scores the legal actions of every question of an instant, layer by layer for
// all of them together. Sums are added up in one order whatever is next to them, so results depend on
// nothing else. Source: this project; scoring one candidate after the other with the same weights, so that
// one file fits every size of network, as pointer networks do (Vinyals, Fortunato, Jaitly, NIPS 2015).
class Mlp final : public RoutingPolicy {
 public:
  Mlp(NetworkPtr network, bool avoid_destination_group)
      : network_{std::move(network)}, asked_{network_->asked} {
    asked_.avoid_destination_group = avoid_destination_group;
    for (const DenseLayer& layer : network_->layers) widest_ = std::max(widest_, layer.stride());
    for (const std::string& name : asked_.tracked) {
      TrackerRequest request = request_tracker(find_tracked_feature(name).tracker->name, Parameters{});
      if (std::ranges::find(trackers_, request) == trackers_.end()) trackers_.push_back(std::move(request));
    }
  }

  [[nodiscard]] DecisionScope scope() const noexcept override { return asked_.scope; }
  [[nodiscard]] PathBudget budget() const noexcept override { return asked_.budget(); }
  [[nodiscard]] std::vector<DetourKind> detour_kinds() const override {
    return asked_.action == ActionMode::kPath ? asked_.detours : std::vector<DetourKind>{};
  }
  [[nodiscard]] AfterRefusal after_refusal() const noexcept override { return AfterRefusal::kKeep; }
  [[nodiscard]] std::vector<TrackerRequest> trackers() const override { return trackers_; }
  [[nodiscard]] const QuestionSpec* sees() const noexcept override { return &asked_; }

  void prepare_rows(const QuestionPlan& plan) override {
    columns_ = neural::input_columns(*network_, plan.layout, plan.num_actions);
    of_question_ =
        static_cast<std::uint32_t>(std::ranges::count(columns_, false, &neural::InputColumn::of_action));
    num_actions_ = plan.num_actions;
    first_port_ = plan.first_port;
    plan_ = &plan;
  }

  void decide(std::span<const Question> questions, std::span<Answer> answers) const override {
    const std::size_t most_rows = kRows + (network_->per_action ? num_actions_ : 0U);
    std::vector<float>& scratch = questions.front().around().scratch;
    const std::size_t inputs = columns_.size();
    const std::size_t seen = asked_.second_stage ? plan_->layout.num_features() : 0U;
    const std::size_t needed = most_rows * (inputs + 2 * std::size_t{widest_}) + num_actions_ + seen;
    if (scratch.size() < needed) scratch.resize(needed);
    const Buffers buffers{.in = scratch.data(),
                          .one = scratch.data() + most_rows * inputs,
                          .other = scratch.data() + most_rows * (inputs + widest_),
                          .scores = scratch.data() + needed - num_actions_ - seen,
                          .row = scratch.data() + needed - seen};
    for (std::size_t first = 0; first < questions.size();) {
      const std::size_t count =
          network_->per_action
              ? answer_some_by_action(questions.subspan(first), answers.subspan(first), buffers)
              : answer_some(questions.subspan(first), answers.subspan(first), buffers);
      first += count;
    }
  }

 private:
  using DenseLayer = neural::DenseLayer;

  static constexpr std::size_t kRows = 64;  // so many at a time, or one question's more

  struct Buffers {
    float* in;   // [row * inputs]
    float* one;  // results of layers, in turn
    float* other;
    float* scores;  // [action], of one question
    float* row;     // what is seen of one question in the second stage
  };

  // One pass per question. Returns how many were answered.
  std::size_t answer_some(std::span<const Question> questions, std::span<Answer> answers,
                          const Buffers& buffers) const {
    const std::size_t count = std::min(kRows, questions.size());
    float* in = buffers.in;
    for (std::size_t i = 0; i < count; ++i) {
      const float* const row = questions[i].row();
      for (const neural::InputColumn& column : columns_) *in++ = row[column.at] * column.factor;
    }
    const DenseLayer& first = network_->layers.front();
    first.add({{buffers.in, columns_.size()}}, 0, first.inputs(), first.bias(), buffers.one, count,
              behind(0));
    const float* const results = rest(count, buffers);
    const std::uint32_t stride = network_->layers.back().stride();
    for (std::size_t i = 0; i < count; ++i) {
      for (std::uint32_t k = 0; k < num_actions_; ++k)
        buffers.scores[k] = neural::tamed(results[i * stride + k]);
      answers[i] =
          answer_of(questions[i].candidates(), chosen(questions[i], questions[i].mask(), buffers.scores));
    }
    return count;
  }

  // What is seen of one question.
  struct Seen {
    const float* row;
    const std::uint8_t* mask;
  };

  // One pass per legal action.
  std::size_t answer_some_by_action(std::span<const Question> questions, std::span<Answer> answers,
                                    const Buffers& buffers) const {
    std::array<Found, kRows> again;  // what is looked at once more
    std::size_t num_again = 0;
    std::size_t rows = 0;
    std::size_t count = 0;
    for (; count < questions.size() && rows < kRows; ++count) {
      rows += first_layer({questions[count].row(), questions[count].mask()}, rows, buffers);
    }
    const float* results = rest(rows, buffers);
    for (std::size_t i = 0; i < count; ++i) {
      results = take_scores(questions[i].mask(), results, buffers);
      const std::uint32_t action = chosen(questions[i], questions[i].mask(), buffers.scores);
      answers[i] = answer_of(questions[i].candidates(), action);
      if (asked_.second_stage && action >= asked_.minimal_candidates) {
        again[num_again++] = {i, action, buffers.scores[action]};
      }
    }
    for (const Found& found : std::span{again}.first(num_again)) {
      second_stage(questions[found.question], found, buffers, answers[found.question]);
    }
    return count;
  }

  // The best of the paths that a question showed.
  struct Found {
    std::size_t question;
    std::uint32_t action;
    float score;
  };

  // After a non-minimal path was the best path: at those behind the first ones of each kind. Changes the
  // answer if one of them is better still, or as good and of an earlier kind, as if all had been shown at
  // once.
  void second_stage(const Question& question, const Found& found, const Buffers& buffers,
                    Answer& answer) const {
    std::array<Candidate, kMostPaths> candidates;
    std::array<std::uint8_t, kMostPaths> mask;
    const ShownPaths further{asked_.shown_detours(), asked_.nonminimal_candidates};
    if (path_choices(*plan_, question, false, {}, further, mask.data(), candidates.data()) == 0) return;
    std::copy_n(question.row(), plan_->layout.num_features(), buffers.row);
    plan_->layout.fill_paths(buffers.row, question, candidates.data());
    const std::size_t rows = first_layer({buffers.row, mask.data()}, 0, buffers);
    take_scores(mask.data(), rest(rows, buffers), buffers);
    const std::uint32_t action = chosen(question, mask.data(), buffers.scores);
    const float score = buffers.scores[action];
    if (score < found.score || (score == found.score && kind_of(action) >= kind_of(found.action))) return;
    answer = answer_of(candidates.data(), action);
  }

  // The place among the kinds of non-minimal paths.
  [[nodiscard]] std::uint32_t kind_of(std::uint32_t action) const noexcept {
    return (action - asked_.minimal_candidates) / asked_.most_shown_detours();
  }

  // The results of the first layer, a row per legal action, behind `before` others. What the columns of the
  // question bring is added up once. Returns how many.
  std::size_t first_layer(const Seen& seen, std::size_t before, const Buffers& buffers) const {
    const DenseLayer& first = network_->layers.front();
    float* const in = buffers.in;
    for (std::uint32_t c = 0; c < of_question_; ++c) in[c] = seen.row[columns_[c].at] * columns_[c].factor;
    float* const shared = buffers.other;  // free until the second layer
    first.add({{in, 0}}, 0, of_question_, first.bias(), shared, 1, neural::Activation::kNone);
    const std::size_t rows = inputs_of_actions(seen, in);
    first.add({{in, 1}, rows}, of_question_, first.inputs(), {shared, 0},
              buffers.one + before * first.stride(), rows, behind(0));
    return rows;
  }

  // What the columns of the actions show of those that are legal, column by column. Returns how many.
  std::size_t inputs_of_actions(const Seen& seen, float* in) const {
    const auto legal = static_cast<std::size_t>(std::count(seen.mask, seen.mask + num_actions_, 1));
    for (std::size_t c = of_question_; c < columns_.size(); ++c) {
      const float* const shown = seen.row + columns_[c].at;
      const float factor = columns_[c].factor;
      if (legal == num_actions_) {
        for (std::uint32_t k = 0; k < num_actions_; ++k) *in++ = shown[k] * factor;
        continue;
      }
      for (std::uint32_t k = 0; k < num_actions_; ++k) {
        if (seen.mask[k] != 0) *in++ = shown[k] * factor;
      }
    }
    return legal;
  }

  // Those of one question, by action; returns where the next one's stand.
  const float* take_scores(const std::uint8_t* mask, const float* results, const Buffers& buffers) const {
    const std::uint32_t step = network_->layers.back().stride();
    for (std::uint32_t k = 0; k < num_actions_; ++k) {
      if (mask[k] == 0) continue;
      buffers.scores[k] = neural::tamed(*results);
      results += step;
    }
    return results;
  }

  // Everything behind the first layer, whose results are in `one`; returns where the last one's stand.
  [[nodiscard]] const float* rest(std::size_t rows, const Buffers& buffers) const {
    float* from = buffers.one;
    float* to = buffers.other;
    for (std::size_t i = 1; i < network_->layers.size(); ++i) {
      const DenseLayer& layer = network_->layers[i];
      const std::size_t step = network_->layers[i - 1].stride();
      layer.add({{from, step}}, 0, layer.inputs(), layer.bias(), to, rows, behind(i));
      std::swap(from, to);
    }
    return from;
  }

  // What becomes of the sums of a layer: those of hidden ones are activated.
  [[nodiscard]] neural::Activation behind(std::size_t layer) const noexcept {
    return layer + 1 < network_->layers.size() ? network_->activation : neural::Activation::kNone;
  }

  [[nodiscard]] std::uint32_t chosen(const Question& question, const std::uint8_t* mask,
                                     const float* scores) const {
    std::uint32_t action = 0;
    if (network_->temperature > 0) {
      RandomStream draws = question.learning_stream();
      action = neural::drawn_legal(scores, mask, num_actions_, network_->temperature, draws.uniform());
    } else {
      action = neural::best_legal(scores, mask, num_actions_);
    }
    assert(mask[action] != 0);
    return action;
  }

  // `candidates`: of paths.
  [[nodiscard]] Answer answer_of(const Candidate* candidates, std::uint32_t action) const {
    if (asked_.action == ActionMode::kPath) return dragonfly::answer_of(candidates[action]);
    return {.port = static_cast<Port>(first_port_ + action)};
  }

  NetworkPtr network_;
  QuestionSpec asked_;
  std::vector<TrackerRequest> trackers_;
  const QuestionPlan* plan_ = nullptr;
  std::uint32_t widest_ = 0;
  std::vector<neural::InputColumn> columns_;
  std::uint32_t of_question_ = 0;  // columns of the question, which come first; the others are of an action
  std::uint32_t num_actions_ = 0;
  std::uint32_t first_port_ = 0;
};

std::unique_ptr<RoutingPolicy> make_mlp(const PolicyInfo& info, const Parameters& given,
                                        const PolicyEnvironment& environment) {
  return std::make_unique<Mlp>(
      network_parameter(info, given, "weights"),
      DetourParams{info, given, environment.avoid_destination_group}.avoid_destination_group);
}

}  // namespace

std::vector<PolicyInfo> mlp_policies() {
  std::vector<ParameterInfo> trained = detour_parameters();
  trained.push_back({"weights", NetworkPtr{}, "", "the network: a file of weights"});
  std::vector<ParameterInfo> given = trained;
  given.push_back({"sha256", std::string{"network"}, "", "of that file; unset: whatever it is"});
  const std::string shipped =
      "a trained neural network scores candidate paths; its weights come with the package";
  return {{"mlp", "a neural network from a file scores the legal ports or paths", "this project", "source",
           "path", std::move(given), make_mlp},
          {"neural-v1", shipped, "this project", "source", "path", trained, make_mlp},
          {"neural-v2", shipped, "this project", "progressive", "path", trained, make_mlp}};
}

}  // namespace dragonfly
