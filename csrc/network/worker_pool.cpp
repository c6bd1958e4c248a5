#include "network/worker_pool.hpp"

namespace dragonfly {

WorkerPool::WorkerPool(std::uint32_t threads) {
  workers_.reserve(threads);
  try {
    for (std::uint32_t i = 1; i < threads; ++i) workers_.emplace_back([this] { loop(); });
  } catch (...) {  // the system gives no more threads; those that run must end before their objects do
    stop();
    throw;
  }
}

WorkerPool::~WorkerPool() { stop(); }

void WorkerPool::stop() {
  stopping_.store(true);
  round_.fetch_add(1);
  round_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void WorkerPool::run(std::uint32_t count, const std::function<void(std::uint32_t)>& task) {
  if (workers_.empty()) {
    for (std::uint32_t i = 0; i < count; ++i) task(i);
    return;
  }
  task_ = &task;
  count_ = count;
  error_ = nullptr;
  next_.store(0);
  busy_.store(static_cast<std::uint32_t>(workers_.size()));
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
