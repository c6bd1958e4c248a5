// The hosts of an area as a 3-D grid, x fastest: host index = x + X * (y + Y * z).
//
// Unless the lengths are given they are those of the system itself, X x Y x Z = hosts per router x routers
// per group x groups: neighbours in x share a router, those in y a group, and a line along z has one host
// of every group. 2,550 hosts are 5 x 10 x 51, as in Kang et al., HPDC 2021, section 6.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "traffic/registry.hpp"

namespace dragonfly {

class HostGrid {
 public:
  using Position = std::array<std::uint32_t, 3>;  // x, y, z

  // Throws ConfigError for a grid that is not three lengths with as many places as the area has hosts, and
  // if there is none in an area that is not the whole system.
  HostGrid(const PatternContext& context, const PatternArguments& arguments, const std::string& pattern);

  [[nodiscard]] const Position& lengths() const noexcept { return lengths_; }
  [[nodiscard]] Position position(HostId host) const noexcept {
    const std::uint32_t index = area_->index_of(host.value);
    const std::uint32_t rest = index / lengths_[0];
    return {index % lengths_[0], rest % lengths_[1], rest / lengths_[1]};
  }
  [[nodiscard]] HostId host(const Position& at) const noexcept {
    return HostId{area_->host(at[0] + lengths_[0] * (at[1] + lengths_[1] * at[2]))};
  }

  // The parameter `grid` of all patterns on a grid.
  [[nodiscard]] static PatternParameter parameter();

 private:
  std::shared_ptr<const Area> area_;
  Position lengths_{};
};

}  // namespace dragonfly
