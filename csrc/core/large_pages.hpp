// Memory for large arrays with scattered reads: in pages of 2 MB if the system has them, because with small
// pages the processor waits for the addresses, too.
#pragma once

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <vector>

namespace dragonfly {

namespace detail {

inline constexpr std::size_t kLargePage = std::size_t{2} << 20U;
inline constexpr std::align_val_t kCacheLine{64};

// Memory that begins and ends with a large page.
[[nodiscard]] inline void* allocate_large_pages(std::size_t bytes) {
  const std::size_t whole = (bytes + kLargePage - 1) / kLargePage * kLargePage;
  void* const memory = ::operator new(whole, std::align_val_t{kLargePage});
#ifdef MADV_HUGEPAGE
  (void)madvise(memory, whole, MADV_HUGEPAGE);
#endif
  return memory;
}

// Arrays that share large pages, one behind the other: a page is given back when its last array is.
class PagePool {
 public:
  static constexpr std::size_t kMostOpenPages = 4;
  // The pool of the process; it outlives every array.
  [[nodiscard]] static PagePool& shared() {
    static PagePool* const pool = made();
    return *pool;
  }
  // Precondition: at most half a page.
  [[nodiscard]] void* take(std::size_t bytes) {
    const std::size_t room = (bytes + sizeof(Page) - 1) / sizeof(Page) * sizeof(Page);
    const std::lock_guard lock{mutex_};
    const auto fits = [room](const Page* page) { return page != nullptr && page->used + room <= kLargePage; };
    auto place = std::ranges::find_if(open_, fits);
    if (place == open_.end()) {  // instead of the fullest one
      place = std::ranges::max_element(
          open_, {}, [](const Page* page) { return page == nullptr ? kLargePage + 1 : page->used; });
      *place = ::new (allocate_large_pages(kLargePage)) Page{};
      ++pages_;
    }
    Page& page = **place;
    void* const memory = reinterpret_cast<std::byte*>(&page) + page.used;
    page.used += room;
    ++page.arrays;
    return memory;
  }
  void give_back(void* memory) noexcept {
    auto* const page =
        reinterpret_cast<Page*>(reinterpret_cast<std::uintptr_t>(memory) & ~std::uintptr_t{kLargePage - 1});
    const std::lock_guard lock{mutex_};
    if (--page->arrays > 0) return;
    if (std::ranges::find(open_, page) != open_.end()) {
      page->used = sizeof(Page);
    } else {
      ::operator delete(page, std::align_val_t{kLargePage});
      --pages_;
    }
  }
  [[nodiscard]] std::size_t pages() const {
    const std::lock_guard lock{mutex_};
    return pages_;
  }

 private:
  struct alignas(64) Page {  // header of a page
    std::size_t used = sizeof(Page);
    std::size_t arrays = 0;
  };
  // A process that forks while one of its threads is in here leaves no lock behind in its child.
  [[nodiscard]] static PagePool* made() {
    static auto* const pool = new PagePool;
    const auto unlock = [] { pool->mutex_.unlock(); };
    (void)pthread_atfork([] { pool->mutex_.lock(); }, unlock, unlock);
    return pool;
  }

  mutable std::mutex mutex_;
  std::array<Page*, kMostOpenPages> open_{};  // pages with room: small arrays fill up the rests of large ones
  std::size_t pages_ = 0;
};

}  // namespace detail

template <class T>
class LargePages {
 public:
  using value_type = T;

  LargePages() = default;
  template <class Other>
  LargePages(const LargePages<Other>& /*other*/) noexcept {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (bytes < kWorthIt) return static_cast<T*>(::operator new(bytes, detail::kCacheLine));
    return static_cast<T*>(detail::allocate_large_pages(bytes));
  }
  void deallocate(T* memory, std::size_t count) noexcept {
    ::operator delete(
        memory, count * sizeof(T) < kWorthIt ? detail::kCacheLine : std::align_val_t{detail::kLargePage});
  }
  bool operator==(const LargePages&) const = default;

 private:
  static constexpr std::size_t kWorthIt = detail::kLargePage / 2;  // at most half of the memory is lost
};

// Small arrays share pages, and their memory is mapped at once. Suited to arrays that are used from end to
// end and do not grow: a grown array would leave its old memory behind.
template <class T>
class SharedPages {
 public:
  using value_type = T;

  SharedPages() = default;
  template <class Other>
  SharedPages(const SharedPages<Other>& /*other*/) noexcept {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] T* allocate(std::size_t count) {
    if (!shares(count)) return LargePages<T>{}.allocate(count);
    return static_cast<T*>(detail::PagePool::shared().take(count * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t count) noexcept {
    if (!shares(count)) return LargePages<T>{}.deallocate(memory, count);
    detail::PagePool::shared().give_back(memory);
  }
  bool operator==(const SharedPages&) const = default;

 private:
  [[nodiscard]] static constexpr bool shares([[maybe_unused]] std::size_t count) noexcept {
#ifdef __SANITIZE_ADDRESS__
    return false;  // it watches the ends of arrays
#else
    return count * sizeof(T) < detail::kLargePage / 2;
#endif
  }
};

template <class T>
using LargeVector = std::vector<T, LargePages<T>>;
template <class T>
using SharedVector = std::vector<T, SharedPages<T>>;

}  // namespace dragonfly
