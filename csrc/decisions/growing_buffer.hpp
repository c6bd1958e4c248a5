// An array that grows and does not clear its items, with a memory that a longer-lived reader can share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <type_traits>

#include "core/archive.hpp"
#include "core/large_pages.hpp"

namespace dragonfly {

template <class T>
class GrowingBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  // Makes room for `items`; the first `keep` survive. Memory held by readers stays valid, with its old
  // contents.
  void reserve(std::size_t items, std::size_t keep) {
    if (items <= capacity_) return;
    const std::size_t capacity = std::max(items, capacity_ + capacity_ / 2);
    auto larger = std::allocate_shared_for_overwrite<T[]>(LargePages<T>{}, capacity);
    std::copy_n(data_.get(), keep, larger.get());
    data_ = std::move(larger);
    capacity_ = capacity;
  }
  // The first `count` items.
  void archive(Archive& archive, std::size_t count) {
    if constexpr (ArchivedWhole<T> || std::is_arithmetic_v<T> || std::is_same_v<T, std::byte>) {
      if (archive.reads()) reserve(count, 0);
      archive.block(data_.get(), count);
    } else {
      if (archive.reads()) {
        reserve(count, 0);
        std::uninitialized_value_construct_n(data_.get(), count);
      }
      for (std::size_t i = 0; i < count; ++i) archive(data_[i]);
    }
  }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] T* data() noexcept { return data_.get(); }
  [[nodiscard]] const T* data() const noexcept { return data_.get(); }
  [[nodiscard]] std::shared_ptr<T[]> share() const noexcept { return data_; }

 private:
  std::shared_ptr<T[]> data_;
  std::size_t capacity_ = 0;
};

}  // namespace dragonfly
