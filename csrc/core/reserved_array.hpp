// An array with room for many items whose memory is taken only when it is touched.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <type_traits>

namespace dragonfly {

// Items start as zero bytes and never move, so threads may use different items while others are
// touched for the first time. Address space is reserved at construction; throws std::bad_alloc.
template <class T>
class ReservedArray {
  static_assert(std::is_trivially_destructible_v<T>);

 public:
  explicit ReservedArray(std::size_t capacity) : bytes_{capacity * sizeof(T)} {
    if (capacity == 0) return;
    void* const memory =
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc{};
#ifdef MADV_HUGEPAGE
    (void)madvise(memory, bytes_, MADV_HUGEPAGE);
#endif
    data_ = static_cast<T*>(memory);
  }
  ~ReservedArray() {
    if (data_ != nullptr) munmap(data_, bytes_);
  }
  ReservedArray(const ReservedArray&) = delete;
  ReservedArray& operator=(const ReservedArray&) = delete;

  [[nodiscard]] T* data() const noexcept { return data_; }

 private:
  std::size_t bytes_;
  T* data_ = nullptr;
};

}  // namespace dragonfly
