#include "network/host_programs.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "network/delivery_record.hpp"

namespace dragonfly {

HostPrograms::HostPrograms(const Workload& workload, std::uint32_t first_host, std::uint32_t num_hosts,
                           TimePs quantum_ps, TimePs packet_ps, std::uint64_t seed,
                           std::optional<ZeroLoadMessage> alone)
    : workload_{workload},
      first_host_{first_host},
      quantum_ps_{quantum_ps},
      packet_ps_{packet_ps},
      seed_{seed},
      alone_{alone},
      hosts_(num_hosts),
      jobs_(workload.jobs().size()),
      operations_(workload.num_operations()) {
  for (std::uint32_t host = 0; host < num_hosts; ++host) {
    const Workload::Place& place = workload.place_of(first_host + host);
    if (!place.exists()) continue;
    const Program& program = *workload.jobs()[place.job].program;
    hosts_[host].task = program.make_task(place.task);
    hosts_[host].job = place.job;
    hosts_[host].endless = program.is_endless();
    if (hosts_[host].endless) continue;
    ++open_work_.unfinished;
    ++jobs_[place.job].unfinished;
  }
  for (const Job& job : workload.jobs()) {
    policies_.push_back(job.policies);
    interval_.push_back(job.program->interval());
  }
  pool_.reserve(num_hosts);
}

void HostPrograms::set_job_policies(std::uint32_t job, const JobPolicies& policies) {
  policies_[job] = policies;
  for (Host& host : hosts_) {
    if (host.task == nullptr || host.job != job) continue;
    const auto turn = [&policies](MessagePart& part) {
      part.policy = policies[static_cast<std::size_t>(part.lane)];
    };
    turn(host.sending.part);
    for (std::uint32_t index = host.first; index != kNil; index = pool_[index].next) turn(pool_[index].part);
  }
}

template <class TaskCall>
Tick HostPrograms::call(std::uint32_t host, Tick now, TaskCall task_call) {
  if (stopped_) return kNoAlarm;
  called_host_ = host;
  now_ = now;
  set_alarm_ = kNoAlarm;
  Host& called = hosts_[host];
  task_call(*called.task);
  if (!called.finished && called.task->finished() && !called.endless) {
    called.finished = true;
    --open_work_.unfinished;
    open_work_.last_progress = std::max(open_work_.last_progress, now);
    JobRecord& job = jobs_[called.job];
    --job.unfinished;
    job.last_end = std::max(job.last_end, now);
  }
  return set_alarm_;
}

Tick HostPrograms::start(std::uint32_t host) {
  const TimePs start_ps = workload_.jobs()[hosts_[host].job].start_ps;
  if (start_ps > 0) {
    called_host_ = host;
    wake_at(start_ps);
    return hosts_[host].alarm;
  }
  hosts_[host].started = true;
  return call(host, 0, [this](Task& task) { task.start(*this); });
}

Tick HostPrograms::wake(std::uint32_t host, Tick now) {
  Host& called = hosts_[host];
  if (called.alarm != now) return kNoAlarm;  // it was set anew meanwhile
  called.alarm = kNoAlarm;
  if (!called.started) {
    called.started = true;
    return call(host, now, [this](Task& task) { task.start(*this); });
  }
  return call(host, now, [this](Task& task) { task.wake(*this); });
}

Tick HostPrograms::deliver(std::uint32_t host, std::uint32_t source_host, std::uint32_t number,
                           const MessagePart& part, Tick now) {
  const bool endless = hosts_[host].endless;
  JobRecord& job = jobs_[hosts_[host].job];
  ++job.packets_delivered;
  const std::uint32_t place = part.origin + number;
  std::uint32_t highest = place;
  const bool complete = hosts_[host].arriving.add(source_host, part.number, part.packets, place, highest);
  if (alone_) {
    SlowdownRecord::SizeClass& size = job.slowdowns.of(part.packets);
    ++size.packets;
    size.late += highest > place ? 1U : 0U;
    size.farthest = std::max(size.farthest, highest - place);
    if (complete) {
      const auto unit = static_cast<Tick>(SlowdownRecord::kUnit);
      const Tick ticks = alone_->ticks(source_host, first_host_ + host, part.packets, part.begun);
      ++size.messages;
      size.slowdowns.add(static_cast<std::uint64_t>((now - part.begun) * unit / ticks));
    }
  }
  if (!complete) return kNoAlarm;
  const TimePs latency = (now - part.begun) * quantum_ps_;
  if (!endless) {
    --open_work_.in_flight;
    --open_work_.expected;
    open_work_.last_progress = std::max(open_work_.last_progress, now);
  }
  job.messages.add(latency);
  ++record_.delivered;
  record_.latency_ps += latency;
  record_.latency_min_ps = std::min(record_.latency_min_ps, latency);
  record_.latency_max_ps = std::max(record_.latency_max_ps, latency);
  record_.latencies.add(static_cast<std::uint64_t>(latency) >> DeliveryRecord::kHistogramShift);
  return call(host, now, [&](Task& task) { task.received(*this, seen_by(source_host, part)); });
}

Tick HostPrograms::left_source_queue(std::uint32_t host, Tick now) {
  const QueuedMessage sent = hosts_[host].sending;  // a copy: the program may begin another message
  open_work_.leaving -= hosts_[host].endless ? 0U : 1U;
  return call(host, now, [&](Task& task) { task.sent(*this, seen_by(sent.destination, sent.part)); });
}

TaskMessage HostPrograms::seen_by(std::uint32_t other_host, const MessagePart& part) const {
  return {.task = workload_.place_of(other_host).task,
          .number = part.number,
          .tag = part.tag,
          .packets = part.packets};
}

const QueuedMessage& HostPrograms::begin_message(std::uint32_t host, std::uint32_t number) {
  Host& sender = hosts_[host];
  const std::uint32_t index = sender.first;
  sender.sending = pool_[index];
  sender.first = pool_[index].next;
  sender.sending.part.origin -= number;
  sender.queued_packets -= sender.sending.packets;
  sender.queued_since -= sender.sending.packets * static_cast<std::uint64_t>(sender.sending.sent);
  pool_[index].next = free_;
  free_ = index;
  return sender.sending;
}

Tick HostPrograms::paced(std::uint32_t host, std::uint64_t number, Tick ready) const {
  const Host& sender = hosts_[host];
  const SendInterval& interval = interval_[sender.job];
  if (!interval.paces()) return ready;
  const bool at_once = sender.sending.pace == Pace::kAtOnce;
  TimePs trial_ps = ready * quantum_ps_;
  if (sender.left_at != kNoAlarm) {
    const TimePs spacing_ps = at_once ? interval.flit_ps(packet_ps_, 1) : interval.spacing_ps(packet_ps_);
    trial_ps = std::max(trial_ps, sender.left_at * quantum_ps_ + spacing_ps);
  }
  if (!at_once) {
    constexpr std::uint32_t kPaced = 1;  // sub-stream: open-loop sources use the others of a host
    const RandomStream random{seed_, Purpose::kInjection, first_host_ + host, number, kPaced};
    trial_ps += interval.wait_ps(random, packet_ps_);
  }
  return (trial_ps + quantum_ps_ - 1) / quantum_ps_;
}

std::uint32_t HostPrograms::send(const MessagePiece& piece) {
  assert(piece.packets > 0 && piece.before + piece.packets <= piece.of);
  Host& sender = hosts_[called_host_];
  std::uint32_t index = free_;
  if (index == kNil) {
    index = static_cast<std::uint32_t>(pool_.size());
    pool_.emplace_back();
  } else {
    free_ = pool_[index].next;
  }
  const bool is_new = piece.number == MessagePiece::kNew;
  const std::uint32_t number = is_new ? sender.messages++ : piece.number;
  pool_[index] = {
      .destination = workload_.host_of(sender.job, piece.task),
      .packets = piece.packets,
      .part = {.number = number,
               .tag = piece.tag,
               .packets = piece.of,
               .origin = piece.before,
               .begun = piece.begun_ps / quantum_ps_,
               .policy = policies_[sender.job][static_cast<std::size_t>(piece.lane)],
               .lane = piece.lane},
      .sent = now_,
      .pace = piece.pace,
  };
  if (sender.first == kNil) {
    sender.first = index;
  } else {
    pool_[sender.last].next = index;
  }
  sender.last = index;
  sender.queued_packets += piece.packets;
  sender.queued_since += piece.packets * static_cast<std::uint64_t>(now_);
  if (!sender.endless) ++open_work_.leaving;
  if (!is_new) return number;
  ++record_.sent;
  if (!sender.endless) {
    ++open_work_.in_flight;
    if (const std::uint32_t to = pool_[index].destination; to - first_host_ < hosts_.size()) {
      ++open_work_.expected;
    } else {
      open_work_.sent_elsewhere.push_back(to);
    }
  }
  return number;
}

void HostPrograms::wake_at(TimePs when_ps) {
  const Tick due = when_ps >= kNever ? kNoAlarm : (when_ps + quantum_ps_ - 1) / quantum_ps_;
  set_alarm_ = hosts_[called_host_].alarm = std::max(due, now_ + 1);
}

void HostPrograms::record(std::uint32_t operation, TimePs took_ps) {
  operations_[workload_.first_operation(hosts_[called_host_].job) + operation].add(took_ps);
}

void HostPrograms::reset_records() {
  record_.clear();
  operations_.assign(operations_.size(), {});
  for (JobRecord& job : jobs_) {
    job.messages = {};
    job.slowdowns = {};
  }
}

void HostPrograms::archive(Archive& archive) {
  for (JobPolicies& lanes : policies_) archive(lanes);
  for (Host& host : hosts_) {
    archive(host.first, host.last, host.queued_packets, host.queued_since, host.messages, host.started,
            host.finished, host.alarm, host.left_at, host.sending, host.arriving);
    if (host.task != nullptr) host.task->archive(archive);
  }
  archive(pool_, free_, stopped_, open_work_, record_);
  archive.fixed(jobs_);
  archive.fixed(operations_);
}

std::string HostPrograms::describe_unfinished() const {
  for (std::uint32_t host = 0; host < hosts_.size(); ++host) {
    if (hosts_[host].task == nullptr || hosts_[host].finished || hosts_[host].endless) continue;
    const Workload::Place& place = workload_.place_of(first_host_ + host);
    return "task " + std::to_string(place.task) + " of job " + std::to_string(place.job) + " on host " +
           std::to_string(first_host_ + host) + " waits for " + hosts_[host].task->waits_for();
  }
  return {};
}

}  // namespace dragonfly
