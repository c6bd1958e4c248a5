#include "network/worker_pool.hpp"

#include <unistd.h>

#include <string>
#include <system_error>

#include "core/error.hpp"

namespace dragonfly {

WorkerPool::WorkerPool(std::uint32_t threads) : threads_{threads} { start(); }

WorkerPool::~WorkerPool() {
  if (process_ == getpid()) {
    stop();
  } else {
    abandon();
  }
}

void WorkerPool::start() {
  process_ = getpid();
  stopping_.store(false);
  round_.store(0);
  workers_->reserve(threads_);
  try {
    for (std::uint32_t i = 1; i < threads_; ++i) workers_->emplace_back([this] { loop(); });
  } catch (const std::system_error& error) {
    const std::string most = std::to_string(workers_->size() + 1);
    stop();  // those that run must end before their objects do
    throw ConfigError{
        "threads", std::to_string(threads_),
        "the system gives this process no more than " + most + " (" + error.code().message() + ")"};
  }
}

void WorkerPool::stop() {
  stopping_.store(true);
  round_.fetch_add(1);
  round_.notify_all();
  for (std::thread& worker : *workers_) worker.join();
  workers_->clear();
}

// Threads of another process can neither be joined nor detached, and their objects not destroyed: this
// memory is given up.
void WorkerPool::abandon() {
  static_cast<void>(workers_.release());
  workers_ = std::make_unique<std::vector<std::thread>>();
}

void WorkerPool::run(std::uint32_t count, const std::function<void(std::uint32_t)>& task) {
  if (threads_ == 1) {
    for (std::uint32_t i = 0; i < count; ++i) task(i);
    return;
  }
  if (process_ != getpid()) abandon();
  if (workers_->empty()) start();
  task_ = &task;
  count_ = count;
  error_ = nullptr;
  next_.store(0);
  busy_.store(static_cast<std::uint32_t>(workers_->size()));
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  work();
  for (std::uint32_t left = busy_.load(std::memory_order_acquire); left != 0;
       left = busy_.load(std::memory_order_acquire)) {
    busy_.wait(left, std::memory_order_acquire);
  }
  if (error_) std::rethrow_exception(error_);
}

void WorkerPool::work() {
  for (std::uint32_t i = next_.fetch_add(1); i < count_; i = next_.fetch_add(1)) {
    try {
      (*task_)(i);
    } catch (...) {
      const std::scoped_lock lock{error_mutex_};
      if (!error_ || i < error_task_) {
        error_ = std::current_exception();
        error_task_ = i;
      }
    }
  }
}

void WorkerPool::loop() {
  std::uint32_t seen = 0;
  while (true) {
    round_.wait(seen, std::memory_order_acquire);
    seen = round_.load(std::memory_order_acquire);
    if (stopping_.load()) return;
    work();
    if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) busy_.notify_all();
  }
}

}  // namespace dragonfly
