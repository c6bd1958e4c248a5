// _core.Turnstile: one thread at a time, whatever interrupts it.
#include <pybind11/pybind11.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <utility>

#include "bindings/sealed_class.hpp"
#include "core/error.hpp"

namespace py = pybind11;

namespace dragonfly {
namespace {

// A lock that does not wait. As a context manager in C++ it is taken and given back together with its `with`
// block: Python runs signal handlers after calls and on backward jumps, so that Ctrl-C may strike before or
// within the block, and never between the lock and the block. (The same written in Python is interruptible.)
class Turnstile {
 public:
  explicit Turnstile(std::string taken) : taken_{std::move(taken)} {}

  void enter() {
    const pid_t here = getpid();
    pid_t nobody = 0;
    if (holder_.compare_exchange_strong(nobody, here, std::memory_order_acquire)) return;
    throw StateError{nobody == here ? taken_
                                    : "this was at work when the process was forked: make another one"};
  }
  void exit() noexcept { holder_.store(0, std::memory_order_release); }

 private:
  std::string taken_;
  std::atomic<pid_t> holder_{0};  // the process that is inside; 0: none
};

}  // namespace

void bind_turnstile(py::module_& module) {
  auto turnstile = sealed_class<Turnstile>(module, "Turnstile",
                                           "Context manager: StateError with a message if it is taken.");
  make_by(
      turnstile, [](std::string taken) { return std::make_unique<Turnstile>(std::move(taken)); },
      py::arg("taken"));
  turnstile.def("__enter__", [](Turnstile& self) { self.enter(); })
      .def("__exit__", [](Turnstile& self, const py::args& /*error*/) { self.exit(); });
}

}  // namespace dragonfly
