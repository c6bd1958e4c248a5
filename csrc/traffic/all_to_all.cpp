#include "core/error.hpp"
#include "traffic/program.hpp"
#include "traffic/registry.hpp"

namespace dragonfly {

namespace {

struct Shape {
  std::uint32_t tasks = 2;
  std::uint32_t packets = 1;    // packets per message
  std::uint32_t in_flight = 1;  // messages of a host in its source queue
  SendInterval interval{};
};

// Task i sends one message to each of i+1, i+2, ... (mod n), the next one whenever the last packet of one
// has left the source queue.
// The host is paced, by default as in FOGSim's all-to-all: a trial every flit time, one packet a packet time
// on average. Source: the shifted order of a personalised all-to-all exchange, as in Thakur et al.,
// Optimization of collective communication operations in MPICH, IJHPCA 2005.
class AllToAllTask final : public Task {
 public:
  AllToAllTask(const Shape& shape, std::uint32_t task) : shape_{shape}, task_{task} {}

  void start(TaskPort& port) override {
    for (std::uint32_t i = 0; i < shape_.in_flight && offset_ < shape_.tasks; ++i) send_next(port);
  }
  void sent(TaskPort& port, const TaskMessage& /*message*/) override {
    ++sent_;
    if (offset_ < shape_.tasks) send_next(port);
  }
  void received(TaskPort& /*port*/, const TaskMessage& /*message*/) override { ++received_; }

  void archive(Archive& archive) override { archive(offset_, sent_, received_); }
  [[nodiscard]] bool finished() const override { return sent_ == partners() && received_ == partners(); }
  [[nodiscard]] std::string waits_for() const override {
    return std::to_string(partners() - received_) + " of " + std::to_string(partners()) + " messages";
  }

 private:
  [[nodiscard]] std::uint32_t partners() const noexcept { return shape_.tasks - 1; }
  void send_next(TaskPort& port) {
    const std::uint32_t to =
        task_ < shape_.tasks - offset_ ? task_ + offset_ : task_ + offset_ - shape_.tasks;
    port.send(to, shape_.packets, offset_++);
  }

  const Shape& shape_;
  std::uint32_t task_;
  std::uint32_t offset_ = 1;  // distance to the next task that is sent to
  std::uint32_t sent_ = 0;
  std::uint32_t received_ = 0;
};

class AllToAll final : public Program {
 public:
  explicit AllToAll(const Shape& shape) : shape_{shape} {}

  [[nodiscard]] std::unique_ptr<Task> make_task(std::uint32_t task) const override {
    return std::make_unique<AllToAllTask>(shape_, task);
  }
  [[nodiscard]] std::uint64_t total_packets() const override {
    return std::uint64_t{shape_.tasks} * (shape_.tasks - 1) * shape_.packets;
  }
  [[nodiscard]] std::uint64_t task_bytes() const override { return sizeof(AllToAllTask) + 16; }
  [[nodiscard]] SendInterval interval() const override { return shape_.interval; }

 private:
  Shape shape_;
};

constexpr const char* kAllToAllInterval = "bernoulli";

ProgramPtr make_all_to_all(const ProgramContext& context, const PatternArguments& arguments) {
  const std::int64_t bytes = arguments.integer("message_bytes", 250, 1, kMostMessageBytes);
  const std::int64_t in_flight = arguments.integer("in_flight", 1, 1, 65'535);
  if (context.num_tasks < 2) {
    throw ConfigError{"traffic", "'all-to-all'", "needs at least 2 hosts"};
  }
  const Shape shape{.tasks = context.num_tasks,
                    .packets = context.packets_of(bytes),
                    .in_flight = static_cast<std::uint32_t>(in_flight),
                    .interval = read_send_interval(context, arguments, kAllToAllInterval)};
  if (std::uint64_t{shape.packets} * (shape.tasks - 1) > kMostPacketsOfHost) {
    throw ConfigError{"message_bytes", std::to_string(bytes),
                      "at most " +
                          std::to_string(kMostPacketsOfHost / (shape.tasks - 1) * context.packet_bytes) +
                          " for " + std::to_string(shape.tasks) + " hosts: a host may send 2^32 packets"};
  }
  return std::make_shared<AllToAll>(shape);
}

}  // namespace

PatternInfo all_to_all_pattern() {
  return {.name = "all-to-all",
          .summary = "every host sends one message to every other host, the next host first; closed loop",
          .source =
              "Thakur et al., Optimization of collective communication operations in MPICH, IJHPCA 2005; "
              "pacing: FOGSim, all2all",
          .example = "all-to-all",
          .parameters = {{"message_bytes", "250", "size of a message, rounded up to whole packets"},
                         {"in_flight", "1", "messages of a host that may be in its source queue"},
                         interval_parameter(kAllToAllInterval),
                         injection_load_parameter()},
          .program = make_all_to_all};
}

}  // namespace dragonfly
