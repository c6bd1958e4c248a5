// Where large and small lists lie.
#include <cstddef>
#include <cstdint>

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

TEST(a_list_keeps_its_items_while_it_grows) {
  LargeVector<std::uint32_t> list;
  for (std::uint32_t i = 0; i < 1'000'000; ++i) list.push_back(i);
  bool same = true;
  for (std::uint32_t i = 0; i < 1'000'000; ++i) same = same && list[i] == i;
  CHECK(same);
}

}  // namespace
