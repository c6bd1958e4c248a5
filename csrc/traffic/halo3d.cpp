// The halo exchange of a 27-point stencil: every task holds a cube of cells and sends its faces, edges and
// corners to the 26 tasks around it, waits for theirs, and goes on to the next iteration. Source: McDonald et
// al., SC 2019 (HyperX), as LIA (TACO 2025), section 5.3, uses it; LIA places the cubes at random.
// Assumptions, neither paper giving sizes: cubes of 32 cells a side, 8 bytes each, a halo one cell deep; the
// grid wraps around; no collective between iterations.
#include <algorithm>
#include <array>
#include <vector>

#include "core/error.hpp"
#include "traffic/program.hpp"
#include "traffic/registry.hpp"

namespace dragonfly {

namespace {

using Lengths = std::array<std::uint32_t, 3>;

struct Exchange {
  Lengths lengths{};
  bool wrap = true;
  std::array<std::uint32_t, 4> packets{};  // packets of a message, by how many of x, y, z differ
  std::uint32_t iterations = 1;
  TimePs compute_ps = 0;
  SendInterval interval{};

  struct Neighbor {
    std::uint32_t task;
    std::uint32_t packets;
  };
  // Along rings of two a task is a neighbour twice; rings of one have no neighbours.
  [[nodiscard]] std::vector<Neighbor> neighbors(std::uint32_t task) const {
    const Lengths here{task % lengths[0], task / lengths[0] % lengths[1], task / lengths[0] / lengths[1]};
    std::vector<Neighbor> found;
    for (std::uint32_t step = 0; step < 27; ++step) {
      const std::array<std::uint32_t, 3> moves{step % 3, step / 3 % 3, step / 9};  // 1: stay
      Lengths there{};
      std::uint32_t differ = 0;
      bool exists = step != 13;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        if (moves[axis] != 1) {
          ++differ;
          const bool outside = moves[axis] == 0 ? here[axis] == 0 : here[axis] + 1 == lengths[axis];
          exists = exists && lengths[axis] > 1 && (wrap || !outside);
        }
        there[axis] = (here[axis] + lengths[axis] + moves[axis] - 1) % lengths[axis];
      }
      if (!exists) continue;
      found.push_back({there[0] + lengths[0] * (there[1] + lengths[1] * there[2]), packets[differ]});
    }
    return found;
  }
};

class HaloTask final : public Task {
 public:
  HaloTask(const Exchange& exchange, std::uint32_t task)
      : exchange_{exchange}, neighbors_{exchange.neighbors(task)} {}

  void start(TaskPort& port) override { begin(port); }
  void wake(TaskPort& port) override { next(port); }
  void sent(TaskPort& port, const TaskMessage& /*message*/) override {
    --leaving_;
    end(port);
  }
  void received(TaskPort& port, const TaskMessage& message) override {
    ++received_[message.tag % 2];  // a neighbour may be one iteration ahead, not two
    end(port);
  }

  void archive(Archive& archive) override { archive(received_, leaving_, iteration_, computes_); }
  [[nodiscard]] bool finished() const override { return iteration_ == exchange_.iterations; }
  [[nodiscard]] std::string waits_for() const override {
    return std::to_string(neighbors_.size() -
                          std::min<std::size_t>(neighbors_.size(), received_[iteration_ % 2])) +
           " of " + std::to_string(neighbors_.size()) + " halos of iteration " + std::to_string(iteration_);
  }

 private:
  void begin(TaskPort& port) {
    for (const Exchange::Neighbor& neighbor : neighbors_) {
      ++leaving_;
      port.send(neighbor.task, neighbor.packets, iteration_);
    }
    end(port);
  }
  void end(TaskPort& port) {
    if (finished() || computes_ || leaving_ > 0 || received_[iteration_ % 2] < neighbors_.size()) return;
    received_[iteration_ % 2] = 0;
    computes_ = exchange_.compute_ps > 0;
    if (computes_) {
      port.wake_at(port.now_ps() + exchange_.compute_ps);
    } else {
      next(port);
    }
  }
  void next(TaskPort& port) {
    computes_ = false;
    ++iteration_;
    if (!finished()) begin(port);
  }

  const Exchange& exchange_;
  std::vector<Exchange::Neighbor> neighbors_;
  std::array<std::uint32_t, 2> received_{};  // messages of even and of odd iterations
  std::uint32_t leaving_ = 0;
  std::uint32_t iteration_ = 0;
  bool computes_ = false;
};

class Halo3d final : public Program {
 public:
  Halo3d(const Exchange& exchange, std::uint64_t packets) : exchange_{exchange}, packets_{packets} {}

  [[nodiscard]] std::unique_ptr<Task> make_task(std::uint32_t task) const override {
    return std::make_unique<HaloTask>(exchange_, task);
  }
  [[nodiscard]] std::uint64_t total_packets() const override { return packets_; }
  [[nodiscard]] std::uint64_t task_bytes() const override {
    return sizeof(HaloTask) + 26 * sizeof(Exchange::Neighbor) + 32;
  }
  [[nodiscard]] SendInterval interval() const override { return exchange_.interval; }

 private:
  Exchange exchange_;
  std::uint64_t packets_;
};

// Among all x <= y <= z with x * y * z = n the one with the smallest surface.
Lengths most_cubic(std::uint32_t n) {
  Lengths best{1, 1, n};
  const auto surface = [](const Lengths& l) {
    return std::uint64_t{l[0]} * l[1] + std::uint64_t{l[1]} * l[2] + std::uint64_t{l[0]} * l[2];
  };
  for (std::uint32_t x = 1; std::uint64_t{x} * x * x <= n; ++x) {
    if (n % x != 0) continue;
    for (std::uint32_t y = x; std::uint64_t{y} * y <= n / x; ++y) {
      if (n / x % y != 0) continue;
      const Lengths lengths{x, y, n / x / y};
      if (surface(lengths) < surface(best)) best = lengths;
    }
  }
  return best;
}

Lengths read_lengths(const PatternArguments& arguments, std::uint32_t tasks) {
  const Integers* const given = arguments.integers("grid");
  if (given == nullptr) return most_cubic(tasks);
  std::uint64_t places = given->size() == 3 ? 1 : 0;
  std::string spelled;
  for (const std::int64_t length : *given) {
    spelled += (spelled.empty() ? "" : ";") + std::to_string(length);
    const bool fits = length >= 1 && length <= std::int64_t{tasks} && places <= tasks;
    places = fits ? places * static_cast<std::uint64_t>(length) : 0;
  }
  if (places != tasks) {
    throw ConfigError{"grid", "'" + spelled + "'",
                      "must be three lengths x;y;z of at least 1 with x * y * z = " + std::to_string(tasks) +
                          ", the number of hosts"};
  }
  return {static_cast<std::uint32_t>((*given)[0]), static_cast<std::uint32_t>((*given)[1]),
          static_cast<std::uint32_t>((*given)[2])};
}

constexpr const char* kHalo3dInterval = "none";

ProgramPtr make_halo3d(const ProgramContext& context, const PatternArguments& arguments) {
  if (context.num_tasks < 2) throw ConfigError{"traffic", "'halo3d'", "needs at least 2 hosts"};
  const std::int64_t side = arguments.integer("side", 32, 1, 4096);
  const std::int64_t cell_bytes = arguments.integer("cell_bytes", 8, 1, 64);
  Exchange exchange{
      .lengths = read_lengths(arguments, context.num_tasks),
      .wrap = arguments.flag("wrap", true),
      .iterations = static_cast<std::uint32_t>(arguments.integer("iterations", 1, 1, 1'000'000)),
      .compute_ps = arguments.integer("compute_ns", 0, 0, 1'000'000'000) * kPsPerNs,
      .interval = read_send_interval(context, arguments, kHalo3dInterval)};
  exchange.packets = {0, context.packets_of(side * side * cell_bytes), context.packets_of(side * cell_bytes),
                      context.packets_of(cell_bytes)};
  std::uint64_t packets = 0;
  std::uint64_t most = 0;
  for (std::uint32_t task = 0; task < context.num_tasks; ++task) {
    std::uint64_t own = 0;
    for (const Exchange::Neighbor& neighbor : exchange.neighbors(task)) own += neighbor.packets;
    packets += own * exchange.iterations;
    most = std::max(most, own * exchange.iterations);
  }
  if (most > kMostPacketsOfHost) {
    throw ConfigError{"iterations", std::to_string(exchange.iterations),
                      "fewer: a host may send 2^32 packets, and would send " + std::to_string(most)};
  }
  return std::make_shared<Halo3d>(exchange, packets);
}

}  // namespace

PatternInfo halo3d_pattern() {
  return {
      .name = "halo3d",
      .summary = "halo exchange of a 27-point stencil with the 26 neighboring tasks; closed loop",
      .source = "McDonald et al., SC 2019, as in LIA, TACO 2025, section 5.3; sizes are our assumption",
      .example = "halo3d:side=8",
      .parameters = {{"grid", "as cubic as can be", "lengths x;y;z, whose product is the number of hosts"},
                     {"wrap", "true", "whether the grid is a torus"},
                     {"side", "32", "cells of a task along each of x, y, z"},
                     {"cell_bytes", "8", "size of a cell"},
                     {"iterations", "1", "number of exchanges, one after the other"},
                     {"compute_ns", "0", "time between two exchanges"},
                     interval_parameter(kHalo3dInterval),
                     injection_load_parameter()},
      .program = make_halo3d};
}

}  // namespace dragonfly
