// A short list with a capacity fixed at compile time.
#pragma once

#include <cassert>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace dragonfly {

// Elements are made in place and never destroyed; nothing is allocated and nothing grows, so a loop that
// fills it keeps its place in a register.
template <class T, std::size_t kRoom>
class FixedList {
  static_assert(std::is_trivially_destructible_v<T>);

 public:
  FixedList() noexcept {}  // `= default` would clear the room
  FixedList(const FixedList&) = delete;
  FixedList& operator=(const FixedList&) = delete;
  ~FixedList() = default;

  [[nodiscard]] static constexpr std::size_t room() noexcept { return kRoom; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool full() const noexcept { return size_ == kRoom; }
  [[nodiscard]] std::span<T> all() noexcept { return {&first_, size_}; }
  [[nodiscard]] std::span<const T> all() const noexcept { return {&first_, size_}; }

  // Constructs the result of `make` in place. Precondition: not full.
  template <class Make>
  T& add_made(Make make) {
    assert(size_ < kRoom);
    return *::new (static_cast<void*>(&first_ + size_++)) T(make());
  }
  // Precondition: not empty.
  void remove_last() noexcept { --size_; }
  // Precondition: not full.
  template <class... Arguments>
  void add(Arguments&&... arguments) noexcept(std::is_nothrow_constructible_v<T, Arguments...>) {
    assert(size_ < kRoom);
    std::construct_at(&first_ + size_, std::forward<Arguments>(arguments)...);
    ++size_;
  }

 private:
  std::size_t size_ = 0;
  union {
    T first_;
    alignas(T) std::byte room_[kRoom * sizeof(T)];
  };
};

}  // namespace dragonfly
