// Choosing without a branch.
#include <cstdint>

#include "core/pick.hpp"
#include "tests/check.hpp"

namespace {

using namespace dragonfly;

TEST(one_of_two_numbers_is_picked_whole) {
  constexpr std::uint32_t kAll = ~std::uint32_t{0};
  CHECK_EQ(pick(true, 7U, kAll), 7U);
  CHECK_EQ(pick(false, 7U, kAll), kAll);
  CHECK_EQ(pick(true, 0U, kAll), 0U);
  CHECK_EQ(pick(false, kAll, 0U), 0U);
  CHECK_EQ(pick(true, std::uint16_t{0}, std::uint16_t{0xffff}), 0);
  CHECK_EQ(pick(false, std::uint16_t{0}, std::uint16_t{0xffff}), 0xffff);
  CHECK_EQ(pick(true, ~std::uint64_t{0}, std::uint64_t{1}), ~std::uint64_t{0});
}

}  // namespace
