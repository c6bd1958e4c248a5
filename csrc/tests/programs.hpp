// Programs for tests, and systems that run them.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "simulation/simulation.hpp"
#include "tests/small_systems.hpp"
#include "traffic/workload.hpp"

namespace dragonfly {

// The calls of a task, in their order.
struct TaskCall {
  char what;  // 's' start, 'r' received, 'w' wake, 'l' left the source queue
  TimePs time_ps;
  std::uint32_t task = 0;
  std::uint32_t number = 0;
  std::uint32_t tag = 0;
  bool operator==(const TaskCall&) const = default;
};
using Diary = std::vector<TaskCall>;

// A program with a function that gives the actions of each task. Each task keeps a diary of its own.
class Scripted : public Program {
 public:
  // Runs after each call; returns whether the task has finished.
  using Reaction =
      std::function<bool(std::uint32_t task, const TaskCall& call, const Diary& diary, TaskPort& port)>;

  Scripted(std::uint32_t tasks, std::uint64_t total_packets, Reaction reaction)
      : diaries{tasks}, total_packets_{total_packets}, reaction_{std::move(reaction)} {}

  [[nodiscard]] std::unique_ptr<Task> make_task(std::uint32_t task) const override {
    return std::make_unique<Player>(*this, task);
  }
  [[nodiscard]] std::uint64_t total_packets() const override { return total_packets_; }
  [[nodiscard]] bool is_endless() const override { return endless; }

  mutable std::vector<Diary> diaries;  // [task]; only the partition of its task writes each diary
  bool endless = false;

 private:
  class Player final : public Task {
   public:
    Player(const Scripted& script, std::uint32_t task) : script_{script}, task_{task} {}
    void start(TaskPort& port) override { note({'s', port.now_ps()}, port); }
    void received(TaskPort& port, const TaskMessage& m) override {
      note({'r', port.now_ps(), m.task, m.number, m.tag}, port);
    }
    void wake(TaskPort& port) override { note({'w', port.now_ps()}, port); }
    void sent(TaskPort& port, const TaskMessage& m) override {
      note({'l', port.now_ps(), m.task, m.number, m.tag}, port);
    }
    void archive(Archive& archive) override { archive(finished_); }
    [[nodiscard]] bool finished() const override { return finished_; }
    [[nodiscard]] std::string waits_for() const override { return "its cue"; }

   private:
    void note(const TaskCall& call, TaskPort& port) {
      Diary& diary = script_.diaries[task_];
      diary.push_back(call);
      finished_ = script_.reaction_(task_, call, diary, port);
    }
    const Scripted& script_;
    std::uint32_t task_;
    bool finished_ = false;
  };

  std::uint64_t total_packets_;
  Reaction reaction_;
};

// A ring: task 0 sends to 1; each receiver computes for `gap_ps`, then sends to the next, `laps` times
// around.
inline std::shared_ptr<Scripted> make_ring(std::uint32_t tasks, std::uint32_t packets, std::uint32_t laps,
                                           TimePs gap_ps) {
  const auto count = [](const Diary& diary, char what) {
    return static_cast<std::uint32_t>(std::ranges::count(diary, what, &TaskCall::what));
  };
  return std::make_shared<Scripted>(
      tasks, std::uint64_t{tasks} * laps * packets,
      [=](std::uint32_t task, const TaskCall& call, const Diary& diary, TaskPort& port) {
        const bool begins = call.what == 's' && task == 0;
        if (call.what == 'r') port.wake_at(port.now_ps() + gap_ps);
        const bool last = task == 0 && count(diary, 'w') == laps;
        if (begins || (call.what == 'w' && !last)) {
          port.send((task + 1) % tasks, packets, count(diary, 'w'));
        }
        return count(diary, 'w') == laps;
      });
}

inline std::vector<std::uint32_t> first_hosts(std::uint32_t count, std::uint32_t from = 0) {
  std::vector<std::uint32_t> hosts(count);
  std::iota(hosts.begin(), hosts.end(), from);
  return hosts;
}

// A system whose hosts run a workload and nothing else.
inline SimulationSetup closed_system(std::shared_ptr<const Dragonfly> topology,
                                     std::shared_ptr<const Workload> workload) {
  SimulationSetup all;
  all.network = usual_network();
  all.topology = std::move(topology);
  all.source = std::make_shared<const SilentSource>();
  all.workload = std::move(workload);
  return all;
}

}  // namespace dragonfly
