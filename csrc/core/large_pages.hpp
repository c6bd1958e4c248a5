// Memory for what is large and read here and there: in pages of 2 MB where the system has them, because with
// small ones the processor waits for the addresses, too.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <vector>

namespace dragonfly {

template <class T>
class LargePages {
 public:
  using value_type = T;

  LargePages() = default;
  template <class Other>
  LargePages(const LargePages<Other>& /*other*/) noexcept {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (bytes < kWorthIt) return static_cast<T*>(::operator new(bytes, kLine));
    const std::size_t whole = (bytes + kPage - 1) / kPage * kPage;
    void* const memory = ::operator new(whole, std::align_val_t{kPage});
#ifdef MADV_HUGEPAGE
    (void)madvise(memory, whole, MADV_HUGEPAGE);
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) noexcept {
    ::operator delete(memory, count * sizeof(T) < kWorthIt ? kLine : std::align_val_t{kPage});
  }
  bool operator==(const LargePages&) const = default;

 private:
  static constexpr std::size_t kPage = std::size_t{2} << 20U;
  static constexpr std::size_t kWorthIt = kPage / 2;  // so at most half is lost
  static constexpr std::align_val_t kLine{64};
};

template <class T>
using LargeVector = std::vector<T, LargePages<T>>;

}  // namespace dragonfly
