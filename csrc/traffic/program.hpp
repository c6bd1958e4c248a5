// The program of a job's hosts: it sends in response to the messages that it receives (closed loop).
//
// A program is written for tasks 0 .. n-1, one per host of its job; the program is independent of the hosts
// of its tasks (traffic/placement.hpp). A task is called
//   start()      when its job starts
//   received()   a message is complete: the last bit of its last packet has reached the host
//   wake()       the alarm that it had set
//   sent()       the last packet of a message has left the source queue
// and acts through its TaskPort: it sends messages and sets its alarm. At one time it is called in the order
// received, wake, sent; the host link brings at most one packet at a time, so no two messages ever arrive at
// one time. Hence the actions of a task depend only on (time, sender, number) of the messages that it
// received, and it needs no care about threads: its state is its own, and only the partition of its host
// calls it.
//
// To add one: a file csrc/traffic/<name>.cpp with a function `PatternInfo <name>_pattern()` that sets
// `program`, and its line in registry.cpp. docs/extending/workload.md shows one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/archive.hpp"
#include "core/time.hpp"
#include "traffic/send_interval.hpp"

namespace dragonfly {

// A message between two tasks of a job.
struct TaskMessage {
  std::uint32_t task = 0;    // the task at the other end: sender or receiver
  std::uint32_t number = 0;  // k-th message of its sender, from 0
  std::uint32_t tag = 0;     // the sender's label
  std::uint32_t packets = 1;
};

// The kind of a message: a job may have its all-to-all exchanges routed by a policy of their own.
enum class Lane : std::uint8_t { kUsual, kAllToAll };
inline constexpr std::size_t kLanes = 2;

// Whether a message waits for its host's pacing (traffic/send_interval.hpp), as data do, or follows the
// packet before it by a flit time, as signals do.
enum class Pace : std::uint8_t { kHost, kAtOnce };

// A piece of a message: packets that go to the source queue together.
struct MessagePiece {
  static constexpr std::uint32_t kNew = 0xffff'ffffU;

  std::uint32_t task = 0;  // the receiver
  std::uint32_t packets = 1;
  std::uint32_t tag = 0;
  Lane lane = Lane::kUsual;
  Pace pace = Pace::kHost;
  std::uint32_t number = kNew;  // number of the message; kNew: its first piece
  std::uint32_t before = 0;     // packets of earlier pieces
  std::uint32_t of = 0;         // packets of the whole message
  TimePs begun_ps = 0;          // the task began to send the message
};

// The actions of a task while it is called.
class TaskPort {
 public:
  TaskPort() = default;
  TaskPort(const TaskPort&) = delete;
  TaskPort& operator=(const TaskPort&) = delete;
  virtual ~TaskPort() = default;

  [[nodiscard]] virtual TimePs now_ps() const = 0;
  // Time of a packet on the host's link.
  [[nodiscard]] virtual TimePs packet_ps() const = 0;
  // Puts a message at the end of the host's source queue; returns its number. Messages of a host leave one
  // after the other. Precondition: packets > 0.
  std::uint32_t send(std::uint32_t task, std::uint32_t packets, std::uint32_t tag, Lane lane = Lane::kUsual,
                     Pace pace = Pace::kHost) {
    return send(MessagePiece{.task = task,
                             .packets = packets,
                             .tag = tag,
                             .lane = lane,
                             .pace = pace,
                             .of = packets,
                             .begun_ps = now_ps()});
  }
  // Puts a piece there, in the same way; sent() is called for each piece, received() for whole messages.
  virtual std::uint32_t send(const MessagePiece& piece) = 0;
  // Sets the one alarm of the task, in place of any that is set: wake() at the first tick of the clock loop
  // at or after `when_ps` and after now.
  virtual void wake_at(TimePs when_ps) = 0;
  // Records the duration of one of the program's operations, which is over. Precondition: operation <
  // num_operations().
  virtual void record(std::uint32_t operation, TimePs took_ps) = 0;
};

class Task {
 public:
  Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  virtual ~Task() = default;

  virtual void start(TaskPort& port) = 0;
  virtual void received(TaskPort& /*port*/, const TaskMessage& /*message*/) {}
  virtual void wake(TaskPort& /*port*/) {}
  virtual void sent(TaskPort& /*port*/, const TaskMessage& /*message*/) {}  // a message, or a piece

  // Whether the task has done all its work. Read after every call of the task.
  [[nodiscard]] virtual bool finished() const = 0;
  // All that changes while it works (core/archive.hpp); indices from a file are checked here.
  virtual void archive(Archive& archive) = 0;
  // Describes the rest of a task that is not finished, for messages: "3 of 71 messages".
  [[nodiscard]] virtual std::string waits_for() const = 0;
};

// The most packets that one host may send in a run: their numbers have 32 bits.
inline constexpr std::uint64_t kMostPacketsOfHost = 0xffff'ffffU;
// The largest message.
inline constexpr std::int64_t kMostMessageBytes = 0x7fff'ffff;

// The job for which a program is built.
struct ProgramContext {
  std::uint32_t num_tasks;
  std::uint32_t packet_bytes;
  std::uint32_t packet_flits = 1;

  // Messages are whole packets. Precondition: 0 < bytes <= kMostMessageBytes.
  [[nodiscard]] std::uint32_t packets_of(std::int64_t bytes) const noexcept {
    return static_cast<std::uint32_t>((bytes + packet_bytes - 1) / packet_bytes);
  }
};

// Const after construction.
class Program {
 public:
  Program() = default;
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  virtual ~Program() = default;

  [[nodiscard]] virtual std::unique_ptr<Task> make_task(std::uint32_t task) const = 0;
  // Packets of all messages that all tasks send from start to end.
  [[nodiscard]] virtual std::uint64_t total_packets() const = 0;
  // Number of kinds of operations that its tasks record().
  [[nodiscard]] virtual std::uint32_t num_operations() const { return 0; }
  // The pacing of its hosts' injection.
  [[nodiscard]] virtual SendInterval interval() const { return {}; }
  // Whether the program goes on as long as the run: a run is complete without it.
  [[nodiscard]] virtual bool is_endless() const { return false; }
  // Memory of one task, about.
  [[nodiscard]] virtual std::uint64_t task_bytes() const { return 64; }
};

using ProgramPtr = std::shared_ptr<const Program>;

}  // namespace dragonfly
