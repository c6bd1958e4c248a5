// Sharing out tasks among threads.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "network/worker_pool.hpp"
#include "tests/check.hpp"

namespace {

using dragonfly::WorkerPool;

TEST(every_task_runs_once_in_every_round) {
  for (const std::uint32_t threads : {1U, 2U, 3U, 8U}) {
    WorkerPool pool{threads};
    for (const std::uint32_t count : {0U, 1U, 2U, 7U, 100U}) {
      for (int round = 0; round < 50; ++round) {
        std::vector<std::atomic<int>> runs(count);
        pool.run(count, [&runs](std::uint32_t task) { ++runs[task]; });
        bool once = true;
        for (const auto& n : runs) once = once && n == 1;
        CHECK(once);
      }
    }
  }
}

TEST(what_a_round_wrote_is_there_when_it_returns_and_for_the_next_round) {
  WorkerPool pool{4};
  std::vector<std::uint64_t> values(64, 0);
  for (int round = 0; round < 500; ++round) {
    pool.run(64, [&values](std::uint32_t task) { values[(task * 7 + 3) % 64] += 1; });
  }
  CHECK(values == std::vector<std::uint64_t>(64, 500));
}

TEST(the_error_of_the_first_task_comes_back_and_the_pool_goes_on) {
  for (const std::uint32_t threads : {1U, 3U}) {
    WorkerPool pool{threads};
    std::string message;
    try {
      pool.run(20, [](std::uint32_t task) {
        if (task >= 5) throw std::runtime_error{"task " + std::to_string(task)};
      });
    } catch (const std::runtime_error& error) {
      message = error.what();
    }
    CHECK_EQ(message, "task 5");
    std::atomic<int> runs{0};
    pool.run(20, [&runs](std::uint32_t) { ++runs; });
    CHECK_EQ(runs.load(), 20);
  }
}

TEST(a_forked_process_gets_workers_of_its_own) {
  WorkerPool pool{3};
  std::atomic<int> runs{0};
  pool.run(20, [&runs](std::uint32_t) { ++runs; });
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // it would hang
    for (int round = 0; round < 50; ++round) pool.run(20, [&runs](std::uint32_t) { ++runs; });
    _exit(runs == 20 + 50 * 20 ? 0 : 1);
  }
  int status = -1;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(status, 0);
  pool.run(20, [&runs](std::uint32_t) { ++runs; });
  CHECK_EQ(runs.load(), 40);
}

TEST(a_pool_that_never_worked_ends_quietly) {
  for (int i = 0; i < 100; ++i) WorkerPool{4};
}

}  // namespace
