// The programs on the hosts of one partition: messages that they have queued, messages received, alarms.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/time.hpp"
#include "network/message_record.hpp"
#include "network/message_table.hpp"
#include "network/open_work.hpp"
#include "network/packet_store.hpp"
#include "network/zero_load_message.hpp"
#include "traffic/workload.hpp"

namespace dragonfly {

// A message in a source queue, or a piece of it.
struct QueuedMessage {
  std::uint32_t destination = 0;  // host
  std::uint32_t packets = 0;      // packets of the piece
  MessagePart part{};             // copied to each of its packets
  Tick sent = 0;                  // given to the source queue
  std::uint32_t next = kNil;      // message behind this one in the queue
  Pace pace = Pace::kHost;
  void archive(Archive& archive) { archive(destination, packets, part, sent, next, pace); }
};

// Hosts are numbered within the partition; only the partition calls these functions.
class HostPrograms final : private TaskPort {
 public:
  static constexpr Tick kNoAlarm = kNever;

  // `packet_ps`: time of a packet on a host's link; `seed`: of the run, for pacing; `alone`: if slowdowns are
  // recorded.
  HostPrograms(const Workload& workload, std::uint32_t first_host, std::uint32_t num_hosts, TimePs quantum_ps,
               TimePs packet_ps, std::uint64_t seed, std::optional<ZeroLoadMessage> alone);

  // Memory per host, without that of the tasks.
  [[nodiscard]] static std::uint64_t host_bytes() noexcept { return sizeof(Host) + sizeof(QueuedMessage); }

  [[nodiscard]] bool runs_on(std::uint32_t host) const noexcept { return hosts_[host].task != nullptr; }

  // Call the program of a host, and return the time of its alarm; kNoAlarm: the program set none.
  // start(): at time 0, whenever its job starts.
  Tick start(std::uint32_t host);
  Tick wake(std::uint32_t host, Tick now);
  // `number`: of the packet at its host.
  Tick deliver(std::uint32_t host, std::uint32_t source_host, std::uint32_t number, const MessagePart& part,
               Tick now);
  Tick left_source_queue(std::uint32_t host, Tick now);
  // Stops all programs: they are no longer called; messages already sent stay sent.
  void stop() noexcept { stopped_ = true; }

  // Sets the policies that route a job's packets from now on, packets that wait in source queues included.
  void set_job_policies(std::uint32_t job, const JobPolicies& policies);

  // Removes the first message from the source queue, to be sent packet by packet; `number`: of its first
  // packet at its host. Precondition: the queue is not empty.
  const QueuedMessage& begin_message(std::uint32_t host, std::uint32_t number);
  [[nodiscard]] const MessagePart& being_sent(std::uint32_t host) const noexcept {
    return hosts_[host].sending.part;
  }
  // The earliest time at which packet `number` of a host may leave, a packet of the message being sent that
  // is ready since `ready`.
  [[nodiscard]] Tick paced(std::uint32_t host, std::uint64_t number, Tick ready) const;
  void packet_left(std::uint32_t host, Tick now) noexcept { hosts_[host].left_at = now; }
  // Packets of messages that were not begun.
  [[nodiscard]] std::uint64_t queued_packets(std::uint32_t host) const noexcept {
    return hosts_[host].queued_packets;
  }

  // The sum of the times at which those were sent, over packets, modulo 2^64.
  [[nodiscard]] std::uint64_t queued_since(std::uint32_t host) const noexcept {
    return hosts_[host].queued_since;
  }
  // Calls visit(packets, when they were sent) for those messages, in their order, until it returns false.
  template <class Visit>
  void for_each_queued(std::uint32_t host, Visit visit) const {
    for (std::uint32_t i = hosts_[host].first; i != kNil; i = pool_[i].next) {
      if (!visit(pool_[i].packets, pool_[i].sent)) return;
    }
  }
  [[nodiscard]] bool is_paced(std::uint32_t host) const noexcept {
    return interval_[hosts_[host].job].paces();
  }

  [[nodiscard]] const OpenWork& open_work() const noexcept { return open_work_; }
  [[nodiscard]] OpenWork& open_work() noexcept { return open_work_; }
  [[nodiscard]] const std::vector<JobRecord>& jobs() const noexcept { return jobs_; }
  // Records by operation; Workload::first_operation() gives the first one of each job.
  [[nodiscard]] const std::vector<OperationRecord>& operations() const noexcept { return operations_; }
  void reset_records();
  void archive(Archive& archive);
  [[nodiscard]] const MessageRecord& record() const noexcept { return record_; }
  // "task 3 of job 0 on host 17 waits for 4 of 71 messages", of the first that is not finished.
  [[nodiscard]] std::string describe_unfinished() const;

 private:
  struct Host {
    std::unique_ptr<Task> task;  // null: an open-loop source
    std::uint32_t first = kNil;  // first message in its source queue
    std::uint32_t last = kNil;
    std::uint64_t queued_packets = 0;
    std::uint64_t queued_since = 0;
    std::uint32_t messages = 0;  // sent so far
    bool started = false;
    bool finished = false;
    bool endless = false;
    std::uint32_t job = 0;
    Tick alarm = kNoAlarm;
    Tick left_at = kNoAlarm;  // the last packet
    QueuedMessage sending{};
    MessageTable arriving;
  };

  template <class TaskCall>
  Tick call(std::uint32_t host, Tick now, TaskCall task_call);
  [[nodiscard]] TaskMessage seen_by(std::uint32_t other_host, const MessagePart& part) const;

  [[nodiscard]] TimePs now_ps() const override { return now_ * quantum_ps_; }
  [[nodiscard]] TimePs packet_ps() const override { return packet_ps_; }
  std::uint32_t send(const MessagePiece& piece) override;
  void wake_at(TimePs when_ps) override;
  void record(std::uint32_t operation, TimePs took_ps) override;

  const Workload& workload_;
  const std::uint32_t first_host_;
  const TimePs quantum_ps_;
  const TimePs packet_ps_;
  const std::uint64_t seed_;
  const std::optional<ZeroLoadMessage> alone_;
  std::vector<SendInterval> interval_;  // [job]
  std::vector<JobPolicies> policies_;   // [job]
  std::vector<Host> hosts_;
  std::vector<QueuedMessage> pool_;  // messages of all source queues
  std::uint32_t free_ = kNil;
  bool stopped_ = false;

  // Valid while a program is called.
  std::uint32_t called_host_ = 0;
  Tick now_ = 0;
  Tick set_alarm_ = kNoAlarm;

  OpenWork open_work_;
  MessageRecord record_;
  std::vector<JobRecord> jobs_;
  std::vector<OperationRecord> operations_;  // operations of all jobs
};

}  // namespace dragonfly
