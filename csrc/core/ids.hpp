// Strong identifiers: a host, a router and a group never get mixed up across interfaces.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

namespace dragonfly {

template <class Tag>
struct Id {
  std::uint32_t value = kNoneValue;

  static constexpr std::uint32_t kNoneValue = 0xffffffffU;

  constexpr Id() = default;
  constexpr explicit Id(std::uint32_t v) : value{v} {}
  constexpr auto operator<=>(const Id&) const = default;
};

using HostId = Id<struct HostTag>;
using RouterId = Id<struct RouterTag>;
using GroupId = Id<struct GroupTag>;

// No index: the end of a list.
inline constexpr std::uint32_t kNil = 0xffffffffU;

// A port number inside one router: hosts first, then local, then global.
using Port = std::uint16_t;
inline constexpr Port kNoPort = 0xffff;

// Links of one kind have equal names, rates, latencies and buffers: those to hosts, then the local ones of
// the group's shape, then the global ones. The topology gives their number.
enum class LinkClass : std::uint8_t { kHost = 0 };
inline constexpr std::size_t kMostLinkClasses = 8;
[[nodiscard]] constexpr std::size_t index_of(LinkClass link) noexcept {
  return static_cast<std::size_t>(link);
}

}  // namespace dragonfly
