// Strong identifiers: a host, a router and a group never get mixed up across interfaces.
#pragma once

#include <compare>
#include <cstdint>

namespace dragonfly {

template <class Tag>
struct Id {
  std::uint32_t value = kNoneValue;

  static constexpr std::uint32_t kNoneValue = 0xffffffffU;

  constexpr Id() = default;
  constexpr explicit Id(std::uint32_t v) : value{v} {}
  [[nodiscard]] constexpr bool valid() const noexcept { return value != kNoneValue; }
  constexpr auto operator<=>(const Id&) const = default;
};

using HostId = Id<struct HostTag>;
using RouterId = Id<struct RouterTag>;
using GroupId = Id<struct GroupTag>;

// A port number inside one router: hosts first, then local, then global.
using Port = std::uint16_t;
inline constexpr Port kNoPort = 0xffff;

enum class LinkClass : std::uint8_t { kHost = 0, kLocal = 1, kGlobal = 2 };
inline constexpr int kLinkClasses = 3;

}  // namespace dragonfly
