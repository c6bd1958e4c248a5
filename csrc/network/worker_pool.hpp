// A fixed set of threads that share out numbered tasks.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace dragonfly {

// `run(count, task)` calls task(0) ... task(count - 1), each once, from this thread and the workers, and
// returns when all are done. The first exception (lowest task number) is thrown again here.
//
// A forked process has a copy of the pool but none of its workers: there run() starts new ones.
// Precondition: no thread was in run() at that moment.
class WorkerPool {
 public:
  // `threads`: including the calling one, at least 1. Throws ConfigError if the system does not give so many.
  explicit WorkerPool(std::uint32_t threads);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Throws ConfigError, too, if a forked process does not get its workers.
  void run(std::uint32_t count, const std::function<void(std::uint32_t)>& task);

 private:
  void start();
  void stop();
  void abandon();
  void work();
  void loop();

  std::uint32_t threads_;
  pid_t process_ = 0;  // process that owns the workers
  std::unique_ptr<std::vector<std::thread>> workers_ = std::make_unique<std::vector<std::thread>>();
  const std::function<void(std::uint32_t)>* task_ = nullptr;
  std::uint32_t count_ = 0;
  std::atomic<std::uint32_t> next_{0};
  std::atomic<std::uint32_t> round_{0};
  std::atomic<std::uint32_t> busy_{0};
  std::atomic<bool> stopping_{false};
  std::mutex error_mutex_;
  std::exception_ptr error_;
  std::uint32_t error_task_ = 0;
};

}  // namespace dragonfly
