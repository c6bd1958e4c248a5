// Addresses of large and small lists.
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "core/large_pages.hpp"
#include "tests/check.hpp"

namespace {

using namespace dragonfly;

constexpr std::uintptr_t kLine = 64;
constexpr std::uintptr_t kPage = std::uintptr_t{2} << 20U;

template <class T>
std::uintptr_t address_of(const LargeVector<T>& list) {
  return reinterpret_cast<std::uintptr_t>(list.data());
}

TEST(a_list_of_a_megabyte_or_more_begins_with_a_page) {
  LargeVector<std::uint32_t> list;
  for (const std::size_t bytes :
       {std::size_t{1} << 20U, (std::size_t{5} << 20U) + 4, std::size_t{32} << 20U}) {
    LargeVector<std::uint32_t> large(bytes / sizeof(std::uint32_t), 7);
    CHECK_EQ(address_of(large) % kPage, 0U);
    CHECK_EQ(large.back(), 7U);
    list = large;
    CHECK(list == large);
  }
}

TEST(a_smaller_list_begins_with_a_cache_line) {
  for (const std::size_t size : {1U, 100U, (1U << 20U) - 1U}) {
    CHECK_EQ(address_of(LargeVector<std::byte>(size)) % kLine, 0U);
  }
}

#ifndef __SANITIZE_ADDRESS__  // AddressSanitizer keeps arrays apart
TEST(small_lists_share_a_page_and_do_not_overlap) {
  std::vector<SharedVector<std::uint32_t>> lists;
  for (std::uint32_t i = 0; i < 200; ++i) lists.emplace_back(1 + i % 50, i);
  std::set<std::uintptr_t> pages;
  bool same = true;
  for (std::uint32_t i = 0; i < lists.size(); ++i) {
    for (const std::uint32_t item : lists[i]) same = same && item == i;
    const auto address = reinterpret_cast<std::uintptr_t>(lists[i].data());
    CHECK_EQ(address % kLine, 0U);
    pages.insert(address / kPage);
  }
  CHECK(same);
  CHECK(pages.size() <= detail::PagePool::kMostOpenPages);
}

TEST(a_page_is_given_back_when_its_last_list_goes) {
  constexpr std::size_t kQuarter = kPage / 4;  // three to a page, which begins with its own record
  const std::size_t before = detail::PagePool::shared().pages();
  {
    std::vector<SharedVector<std::byte>> lists;
    for (int i = 0; i < 30; ++i) lists.emplace_back(kQuarter);
    CHECK(detail::PagePool::shared().pages() >= before + 9 - detail::PagePool::kMostOpenPages);
    lists.erase(lists.begin() + 1, lists.end() - 1);
  }
  CHECK(detail::PagePool::shared().pages() <= before + detail::PagePool::kMostOpenPages);
}
#endif

TEST(a_list_keeps_its_items_while_it_grows) {
  LargeVector<std::uint32_t> list;
  for (std::uint32_t i = 0; i < 1'000'000; ++i) list.push_back(i);
  bool same = true;
  for (std::uint32_t i = 0; i < 1'000'000; ++i) same = same && list[i] == i;
  CHECK(same);
}

}  // namespace
