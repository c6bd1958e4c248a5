// Long calls without the GIL that still notice Ctrl-C.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>

namespace dragonfly {

// Calls Python's signal handlers about twenty times a second; returns false if the run must stop.
class SignalPoll {
 public:
  bool operator()() {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds{50}) return true;
    last_ = now;
    const pybind11::gil_scoped_acquire gil;
    raised_ = PyErr_CheckSignals() != 0;
    return !raised_;
  }
  [[nodiscard]] bool raised() const noexcept { return raised_; }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  bool raised_ = false;
};

// Runs `action(keep_going)` without the GIL; a pending signal becomes its Python exception.
template <class Action>
bool without_gil(Action action) {
  SignalPoll poll;
  bool finished = false;
  {
    const pybind11::gil_scoped_release release;
    finished = action([&poll] { return poll(); });
  }
  if (poll.raised()) throw pybind11::error_already_set{};
  return finished;
}

}  // namespace dragonfly
