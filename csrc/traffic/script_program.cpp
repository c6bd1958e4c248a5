#include "traffic/script_program.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/random.hpp"

namespace dragonfly {

namespace {

// Pieces of a host that are in its source queue at once: one that is being sent and the next.
constexpr std::uint32_t kAhead = 2;

struct Plan {
  std::shared_ptr<const Script> script;
  ScriptRun run;

  // Normal, as a sum of twelve uniform draws: exact arithmetic, the same on every machine, and never farther
  // from the mean than six standard deviations.
  [[nodiscard]] TimePs jittered(TimePs time, std::uint32_t rank, std::uint64_t number) const {
    if (run.jitter <= 0) return time;
    RandomStream random{run.seed, Purpose::kCompute, rank, number, run.job & 0xffffU};
    std::uint64_t sum = 0;
    for (int i = 0; i < 12; ++i) sum += random.next_u32();
    const double normal = static_cast<double>(sum) * 0x1.0p-32 - 6.0;
    return static_cast<TimePs>(std::floor(static_cast<double>(time) * (1.0 + run.jitter * normal) + 0.5));
  }
};

class ScriptTask final : public Task {
 public:
  ScriptTask(const Plan& plan, std::uint32_t rank)
      : plan_{plan},
        rank_{rank},
        steps_{plan.script->steps(rank)},
        ledger_{plan.script->channels(rank), plan.script->num_labels(rank)},
        leaving_(plan.script->num_labels(rank)),
        began_(plan.script->operations().size()),
        finished_{plan.script->is_idle(rank)} {}

  void start(TaskPort& port) override {
    if (!finished_) proceed(port);
  }
  void wake(TaskPort& port) override { proceed(port); }
  void received(TaskPort& port, const TaskMessage& message) override {
    ledger_.arrive(message.tag, message.packets);
    if (waits_) proceed(port);
  }
  void sent(TaskPort& port, const TaskMessage& /*message*/) override {
    const std::uint32_t label = queued_[0];
    queued_[0] = queued_[1];
    --num_queued_;
    if (label != kMoreFollows) {
      --leaving_[label];
      --all_leaving_;
    }
    fill_queue(port);
    if (waits_) proceed(port);
  }

  void archive(Archive& archive) override {
    archive(ledger_);
    archive.fixed(leaving_);
    archive.fixed(began_);
    archive(all_leaving_, open_, queued_, num_queued_, repetition_, computed_, waits_, finished_, turn_,
            next_);
  }
  [[nodiscard]] bool finished() const override { return finished_; }
  [[nodiscard]] std::string waits_for() const override {
    const std::string when =
        " (repetition " + std::to_string(repetition_) + ", operation " + std::to_string(next_) + ")";
    const auto channels = plan_.script->channels(rank_);
    for (std::uint32_t i = 0; i < channels.size(); ++i) {
      if (!ledger_.lacks_on(i)) continue;
      return "'" + plan_.script->label_name(rank_, channels[i].label) + "' from rank " +
             std::to_string(channels[i].from) + when;
    }
    return (all_leaving_ > 0 ? "its messages to leave" : "the end of its computation") + when;
  }

 private:
  struct OpenSend {
    std::uint32_t to = 0;
    std::uint32_t channel = 0;
    std::uint32_t packets = 0;  // still to be put into the source queue
    std::uint32_t label = 0;
    Lane lane{};
    void archive(Archive& archive) { archive(to, channel, packets, label, lane); }
  };
  static constexpr std::uint32_t kMoreFollows = 0xffff'ffffU;

  // Goes on with its list until it has to wait or computes.
  void proceed(TaskPort& port) {
    waits_ = !goes_on(port);
    fill_queue(port);
  }

  // False: it waits.
  bool goes_on(TaskPort& port) {
    for (;; ++next_) {
      if (next_ == steps_.size()) {
        if (ledger_.lacks_any() || all_leaving_ > 0) return false;
        ++repetition_;
        finished_ = repetition_ == plan_.run.repetitions;
        if (finished_) return true;
        next_ = 0;
      }
      const Step& step = steps_[next_];
      switch (step.kind) {
        case Step::Kind::kSend:
          post(step, Lane::kUsual);
          break;
        case Step::Kind::kSendAllToAll:
          post(step, Lane::kAllToAll);
          break;
        case Step::Kind::kReceive:
          ledger_.expect(step.channel, step.amount);
          break;
        case Step::Kind::kWait:
          if (ledger_.lacks(step.label) || leaving_[step.label] > 0) return false;
          break;
        case Step::Kind::kWaitAll:
          if (ledger_.lacks_any() || all_leaving_ > 0) return false;
          break;
        case Step::Kind::kCompute:
          if (step.amount == 0) break;
          port.wake_at(port.now_ps() + plan_.jittered(step.amount, rank_, computed_++));
          ++next_;
          return true;
        case Step::Kind::kBegin:
          began_[step.label] = port.now_ps();
          break;
        case Step::Kind::kEnd:
          port.record(step.label, port.now_ps() - began_[step.label]);
          break;
      }
    }
  }

  void post(const Step& step, Lane lane) {
    ++leaving_[step.label];
    ++all_leaving_;
    open_.push_back({step.partner, step.channel, static_cast<std::uint32_t>(step.amount), step.label, lane});
  }

  // All sends that are open get their turn, a piece each.
  void fill_queue(TaskPort& port) {
    while (num_queued_ < kAhead && !open_.empty()) {
      if (turn_ >= open_.size()) turn_ = 0;
      OpenSend& send = open_[turn_];
      const std::uint32_t packets = std::min(send.packets, plan_.run.piece_packets);
      port.send(send.to, packets, send.channel, send.lane);
      send.packets -= packets;
      queued_[num_queued_++] = send.packets > 0 ? kMoreFollows : send.label;
      if (send.packets > 0) {
        ++turn_;
      } else {
        open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(turn_));
      }
    }
  }

  const Plan& plan_;
  const std::uint32_t rank_;
  std::span<const Step> steps_;
  ReceiveLedger ledger_;
  std::vector<std::uint32_t> leaving_;  // [label], sends whose last packet has not left the source queue
  std::uint32_t all_leaving_ = 0;
  std::vector<TimePs> began_;  // [operation]
  std::vector<OpenSend> open_;
  std::size_t turn_ = 0;                        // of the open sends
  std::array<std::uint32_t, kAhead> queued_{};  // of each piece in the source queue: its label, if the last
  std::uint32_t num_queued_ = 0;
  std::size_t next_ = 0;  // operation
  std::uint32_t repetition_ = 0;
  std::uint64_t computed_ = 0;  // computations so far
  bool waits_ = false;
  bool finished_;
};

class ScriptProgram final : public Program {
 public:
  explicit ScriptProgram(Plan plan) : plan_{std::move(plan)} {}

  [[nodiscard]] std::unique_ptr<Task> make_task(std::uint32_t task) const override {
    return std::make_unique<ScriptTask>(plan_, task);
  }
  [[nodiscard]] std::uint64_t total_packets() const override {
    return plan_.script->packets() * plan_.run.repetitions;
  }
  [[nodiscard]] std::uint64_t task_bytes() const override {
    constexpr std::uint64_t kPerChannel = sizeof(std::int64_t) + sizeof(OpenSendSize);
    const Script& script = *plan_.script;
    std::uint64_t channels = 0;
    for (std::uint32_t rank = 0; rank < script.num_ranks(); ++rank) channels += script.channels(rank).size();
    return sizeof(ScriptTask) + (channels * kPerChannel + script.bytes()) / script.num_ranks();
  }
  [[nodiscard]] std::uint32_t num_operations() const override {
    return static_cast<std::uint32_t>(plan_.script->operations().size());
  }
  [[nodiscard]] bool is_endless() const override { return plan_.run.repetitions == ScriptRun::kEndless; }

 private:
  using OpenSendSize = std::array<std::uint32_t, 5>;
  Plan plan_;
};

}  // namespace

ProgramPtr make_script_program(std::shared_ptr<const Script> script, const ScriptRun& run) {
  const std::uint64_t most = script->most_packets();
  if (most > 0 && run.repetitions > kMostPacketsOfHost / most) {
    throw ConfigError{"iterations", std::to_string(run.repetitions),
                      "at most " + std::to_string(kMostPacketsOfHost / most) + " of " + script->name() +
                          ": a host may send 2^32 packets"};
  }
  return std::make_shared<ScriptProgram>(Plan{.script = std::move(script), .run = run});
}

}  // namespace dragonfly
