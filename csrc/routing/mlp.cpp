#include <algorithm>
#include <cassert>

#include "core/parameters.hpp"
#include "routing/neural/choice.hpp"
#include "routing/neural/scoring_network.hpp"
#include "routing/policy.hpp"

namespace dragonfly {

namespace {

// A neural network routes: it scores the legal actions of every question of an instant, layer by layer for
// all of them together. Sums are added up in one order whatever stands beside them, so results depend on
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
  [[nodiscard]] std::vector<TrackerRequest> trackers() const override { return trackers_; }
  [[nodiscard]] const QuestionSpec* sees() const noexcept override { return &asked_; }

  void prepare_rows(const QuestionPlan& plan) override {
    columns_ = neural::input_columns(*network_, plan.layout, plan.num_actions);
    of_question_ =
        static_cast<std::uint32_t>(std::ranges::count(columns_, false, &neural::InputColumn::of_action));
    num_actions_ = plan.num_actions;
    first_port_ = plan.first_port;
  }

  void decide(std::span<const Question> questions, std::span<Answer> answers) const override {
    const std::size_t most_rows = kRows + (network_->per_action ? num_actions_ : 0U);
    std::vector<float>& scratch = questions.front().around().scratch;
    const std::size_t inputs = columns_.size();
    const std::size_t needed = most_rows * (inputs + 2 * std::size_t{widest_}) + num_actions_;
    if (scratch.size() < needed) scratch.resize(needed);
    const Buffers buffers{.in = scratch.data(),
                          .one = scratch.data() + most_rows * inputs,
                          .other = scratch.data() + most_rows * (inputs + widest_),
                          .scores = scratch.data() + needed - num_actions_};
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
    first.start(buffers.one, count);
    first.add(buffers.in, columns_.size(), 0, first.inputs(), buffers.one, count);
    const float* const results = rest(count, buffers);
    const std::uint32_t stride = network_->layers.back().stride();
    for (std::size_t i = 0; i < count; ++i) {
      for (std::uint32_t k = 0; k < num_actions_; ++k)
        buffers.scores[k] = neural::tamed(results[i * stride + k]);
      answers[i] = answer(questions[i], buffers.scores);
    }
    return count;
  }

  // One pass per legal action; what the columns of the question bring to the first layer is added up once.
  std::size_t answer_some_by_action(std::span<const Question> questions, std::span<Answer> answers,
                                    const Buffers& buffers) const {
    const DenseLayer& first = network_->layers.front();
    const std::uint32_t inputs = first.inputs();
    const std::uint32_t stride = first.stride();
    std::size_t rows = 0;
    std::size_t count = 0;
    float* in = buffers.in;
    for (; count < questions.size() && rows < kRows; ++count) {
      const float* const row = questions[count].row();
      const std::uint8_t* const mask = questions[count].mask();
      for (std::uint32_t c = 0; c < of_question_; ++c) in[c] = row[columns_[c].at] * columns_[c].factor;
      float* const shared = buffers.other;  // free until the second layer
      first.start(shared, 1);
      first.add(in, inputs, 0, of_question_, shared, 1);
      for (std::uint32_t k = 0; k < num_actions_; ++k) {
        if (mask[k] == 0) continue;
        for (std::uint32_t c = of_question_; c < inputs; ++c) {
          in[c] = row[columns_[c].at + k] * columns_[c].factor;
        }
        std::copy_n(shared, stride, buffers.one + rows * stride);
        ++rows;
        in += inputs;
      }
    }
    first.add(buffers.in + of_question_, inputs, of_question_, inputs, buffers.one, rows);
    const float* results = rest(rows, buffers);
    const std::uint32_t step = network_->layers.back().stride();
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint8_t* const mask = questions[i].mask();
      for (std::uint32_t k = 0; k < num_actions_; ++k) {
        if (mask[k] == 0) continue;
        buffers.scores[k] = neural::tamed(*results);
        results += step;
      }
      answers[i] = answer(questions[i], buffers.scores);
    }
    return count;
  }

  // Everything behind the sums of the first layer, which stand in `one`; returns where the results stand.
  [[nodiscard]] const float* rest(std::size_t rows, const Buffers& buffers) const {
    float* from = buffers.one;
    float* to = buffers.other;
    for (std::size_t i = 1; i < network_->layers.size(); ++i) {
      const DenseLayer& layer = network_->layers[i];
      const std::uint32_t stride = network_->layers[i - 1].stride();
      neural::activate(network_->activation, from, rows * stride);
      layer.start(to, rows);
      layer.add(from, stride, 0, layer.inputs(), to, rows);
      std::swap(from, to);
    }
    return from;
  }

  [[nodiscard]] Answer answer(const Question& question, const float* scores) const {
    const std::uint8_t* const mask = question.mask();
    std::uint32_t action = 0;
    if (network_->temperature > 0) {
      RandomStream draws = question.learning_stream();
      action = neural::drawn_legal(scores, mask, num_actions_, network_->temperature, draws.uniform());
    } else {
      action = neural::best_legal(scores, mask, num_actions_);
    }
    assert(mask[action] != 0);
    if (asked_.action == ActionMode::kPath) return answer_of(question.candidates()[action]);
    return {.port = static_cast<Port>(first_port_ + action)};
  }

  NetworkPtr network_;
  QuestionSpec asked_;
  std::vector<TrackerRequest> trackers_;
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
  return {{"mlp", "a neural network from a file scores the legal ports or paths", "this project", "source",
           "path", std::move(given), make_mlp},
          {"neural-v1", "a trained neural network scores candidate paths; its weights come with the package",
           "this project", "source", "path", std::move(trained), make_mlp}};
}

}  // namespace dragonfly
