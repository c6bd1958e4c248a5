#include "simulation/routing_environment.hpp"

#include <algorithm>
#include <chrono>
#include <tuple>
#include <utility>

#include "core/error.hpp"

namespace dragonfly {

namespace {

// Time that networks run before the caller's `keep_going` is called, which only its own thread may do. The
// stop for the call changes no result.
constexpr std::chrono::milliseconds kPatience{50};
// Fewer rows are written sooner than other threads are woken.
constexpr std::size_t kRowsWorthThreads = 512;

std::vector<SimulationSetup> one(SimulationSetup setup) {
  std::vector<SimulationSetup> setups;
  setups.push_back(std::move(setup));
  return setups;
}

std::string of(const FeatureBlock& block) {
  return block.name + " (" + std::to_string(block.width) + " columns, unit " + std::to_string(block.unit) +
         ", half " + std::to_string(block.half) + ", from " + std::to_string(block.low) + " to " +
         std::to_string(block.high) + ")";
}

bool alike(const FeatureBlock& x, const FeatureBlock& y) {
  const auto facts = [](const FeatureBlock& block) {
    return std::tie(block.name, block.per, block.offset, block.width, block.unit, block.half, block.low,
                    block.high);
  };
  return facts(x) == facts(y);
}

// Rows of one batch mean the same whichever network they come from.
void require_one_layout(const DecisionPlan& first, const DecisionPlan& other, std::size_t number) {
  const std::string who = "config[" + std::to_string(number) + "]";
  const auto& blocks = first.layout.blocks();
  const auto& others = other.layout.blocks();
  if (first.num_actions != other.num_actions || first.num_candidates != other.num_candidates) {
    throw ConfigError{who, std::to_string(other.num_actions) + " actions",
                      "must have " + std::to_string(first.num_actions) +
                          ", as config[0]: networks share a batch if their actions are the same; with "
                          "action='path' those of all sizes are"};
  }
  for (std::size_t i = 0; i < std::min(blocks.size(), others.size()); ++i) {
    if (alike(blocks[i], others[i])) continue;
    throw ConfigError{
        who, "observes " + of(others[i]),
        "must observe " + of(blocks[i]) +
            ", as config[0]: networks share a batch if their columns mean the same; choose "
            "features=[...] that do not depend on the size of a network, and occupancy_unit='packets' "
            "(or 'ns') where buffers differ"};
  }
  if (blocks.size() != others.size()) {
    throw ConfigError{who, std::to_string(others.size()) + " features",
                      "must have " + std::to_string(blocks.size()) + ", as config[0]"};
  }
}

}  // namespace

RoutingEnvironment::RoutingEnvironment(SimulationSetup setup, TimePs warmup_ps, TimePs duration_ps)
    : RoutingEnvironment{one(std::move(setup)), warmup_ps, duration_ps, 0} {}

RoutingEnvironment::RoutingEnvironment(std::vector<SimulationSetup> setups, TimePs warmup_ps,
                                       TimePs duration_ps, std::uint32_t threads)
    : first_row_(setups.size() + 1),
      unapplied_(setups.size()),
      interrupted_(setups.size()),
      log_probabilities_(setups.size()),
      pool_{std::clamp<std::uint32_t>(threads, 1, static_cast<std::uint32_t>(setups.size()))} {
  const auto count = static_cast<std::uint32_t>(setups.size());
  for (SimulationSetup& setup : setups) {
    if (count > 1) setup.options.threads = std::max(1U, threads / count);
    networks_.push_back(std::make_unique<ControlledNetwork>(std::move(setup), warmup_ps, duration_ps));
    if (networks_.size() > 1) require_one_layout(plan(), networks_.back()->plan(), networks_.size() - 1);
  }
}

bool RoutingEnvironment::done() const noexcept {
  return std::ranges::all_of(networks_, [](const auto& network) { return network->done(); });
}

bool RoutingEnvironment::advance(const std::function<bool()>& keep_going) {
  if (batch_.size > 0) return true;
  if (!run(keep_going)) return false;
  collect();
  return true;
}

bool RoutingEnvironment::run(const std::function<bool()>& keep_going) {
  const auto advance_one = [this](std::uint32_t i, const std::function<bool()>& go_on) {
    ControlledNetwork& network = *networks_[i];
    if (unapplied_[i] != 0) {
      unapplied_[i] = 0;
      network.hand_out(actions_.data() + first_row_[i]);
    }
    return network.advance(go_on);
  };
  if (networks_.size() == 1) return advance_one(0, keep_going);
  for (;;) {
    const auto until = std::chrono::steady_clock::now() + kPatience;
    const std::function<bool()> in_time = [until] { return std::chrono::steady_clock::now() < until; };
    each_network([&](std::uint32_t i) {
      try {
        interrupted_[i] = advance_one(i, in_time) ? 0 : 1;
      } catch (const DeadlockError& error) {
        throw DeadlockError{"scenario " + std::to_string(i) + ": " + error.what()};
      } catch (const ConfigError& error) {
        throw ConfigError{"scenario " + std::to_string(i) + ": " + error.what()};
      }
    });
    if (std::ranges::all_of(interrupted_, [](std::uint8_t stopped) { return stopped == 0; })) return true;
    if (!keep_going()) return false;
  }
}

void RoutingEnvironment::archive(Archive& archive) {
  bool shown = batch_.size > 0;
  archive(shown, num_batches_);
  archive.fixed(first_row_);
  archive.fixed(unapplied_);
  archive.fixed(interrupted_);
  archive(actions_);
  archive.fixed(log_probabilities_);
  for (const auto& network : networks_) archive(*network);
  if (!archive.reads()) return;
  batch_.size = 0;
  if (shown) collect();
}

void RoutingEnvironment::collect() {
  const std::uint32_t count = num_networks();
  for (std::uint32_t i = 0; i < count; ++i) {
    first_row_[i + 1] = first_row_[i] + networks_[i]->waiting();
  }
  batch_.size = first_row_[count];
  actions_.resize(batch_.size);
  if (batch_.size == 0) return;
  batch_.make_room(batch_.size, plan());
  const auto write = [this](std::uint32_t i) {
    networks_[i]->write(batch_, first_row_[i]);
    std::fill(batch_.networks.data() + first_row_[i], batch_.networks.data() + first_row_[i + 1],
              static_cast<std::int32_t>(i));
  };
  if (count == 1) {
    networks_.front()->write(batch_, 0);
  } else {
    each_network_of_batch(write);
  }
}

bool RoutingEnvironment::take_action(std::size_t row, std::int64_t action) noexcept {
  const std::uint32_t num_actions = plan().num_actions;
  const std::uint8_t* const mask = batch_.mask.data() + row * num_actions;
  const auto chosen = static_cast<std::uint64_t>(action);  // a negative action becomes too large
  if (chosen < num_actions && mask[chosen] != 0) {
    actions_[row] = static_cast<std::int32_t>(action);
    return true;
  }
  // A hop that a non-minimal path forces is the only legal action.
  const std::int32_t minimal = batch_.packets.data()[row].minimal_action;
  actions_[row] =
      mask[minimal] != 0 ? minimal : static_cast<std::int32_t>(std::find(mask, mask + num_actions, 1) - mask);
  return false;
}

void RoutingEnvironment::commit_actions() {
  // After an interruption there is no pending decision: networks go on from their present state.
  if (batch_.size > 0) std::ranges::fill(unapplied_, std::uint8_t{1});
  batch_.size = 0;
  ++num_batches_;
}

void RoutingEnvironment::seek() {
  networks_.front()->seek();
  batch_.size = 0;
  ++num_batches_;
}

void RoutingEnvironment::follow(std::size_t row) {
  networks_.front()->follow(row);
  ++num_batches_;
  collect();
}

void RoutingEnvironment::extend(TimePs duration_ps) {
  for (const auto& network : networks_) network->extend(duration_ps);
}

void RoutingEnvironment::begin_drain(TimePs latest_ps, const std::string& refusal) {
  for (const auto& network : networks_) network->begin_drain(latest_ps, refusal);
}

double RoutingEnvironment::time_ns() {
  if (has_background()) {
    if (const std::optional<double> first = networks_.front()->first_decision_ns()) return *first;
  }
  if (batch_.size > 0) return *std::min_element(batch_.times_ns.data(), batch_.times_ns.data() + batch_.size);
  const bool over = done();
  TimePs earliest = INT64_MAX;
  TimePs latest = 0;
  for (const auto& network : networks_) {
    const TimePs time = std::as_const(*network).simulation().time_ps();
    if (!network->done()) earliest = std::min(earliest, time);
    latest = std::max(latest, time);
  }
  return static_cast<double>(over ? latest : earliest) / static_cast<double>(kPsPerNs);
}

void RoutingEnvironment::draw(double* into, std::uint32_t each) const {
  if (batch_.size == 0) return;
  for (std::size_t i = 0; i < networks_.size(); ++i) {
    const std::size_t first = first_row_[i];
    const std::size_t count = first_row_[i + 1] - first;
    networks_[i]->draw({batch_.packets.data() + first, count}, each, into + first * each);
  }
}

void RoutingEnvironment::each_network(const std::function<void(std::uint32_t)>& task) {
  pool_.run(num_networks(), task);
}

void RoutingEnvironment::each_network_of_batch(const std::function<void(std::uint32_t)>& task) {
  if (batch_.size >= kRowsWorthThreads) return each_network(task);
  for (std::uint32_t i = 0; i < num_networks(); ++i) task(i);
}

}  // namespace dragonfly
