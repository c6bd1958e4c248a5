// The inside of a group: the links between its routers.
//
// A shape gives the router behind each port; everything else (distances, the set of shortest paths) follows
// and is computed once (local_paths.hpp). To add one: a file csrc/topology/<name>.cpp with a function
// `GroupShapeInfo <name>_shape()`, and its line in group_shape.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/parameters.hpp"

namespace dragonfly {

inline constexpr std::uint32_t kMostRoutersOfGroup = 1024;
inline constexpr std::uint32_t kMostBundled = 64;

// Links of one kind, in the order of the ports that they are connected to.
struct LocalLinks {
  std::string name;           // name of the class of link
  std::uint32_t ports = 0;    // ports per router
  std::uint32_t bundled = 1;  // parallel links of one port
};

// A router of the group by its index, and one of its local ports, counted from the first.
struct LocalEnd {
  std::uint32_t index = 0;
  std::uint32_t slot = 0;
  bool operator==(const LocalEnd&) const = default;
};
// The slot at the far end of a port that no link is connected to.
inline constexpr std::uint32_t kNoSlot = ~0U;

class GroupShape {
 public:
  GroupShape() = default;
  GroupShape(const GroupShape&) = delete;
  GroupShape& operator=(const GroupShape&) = delete;
  virtual ~GroupShape() = default;

  [[nodiscard]] virtual std::uint32_t routers() const noexcept = 0;
  [[nodiscard]] virtual const std::vector<LocalLinks>& links() const noexcept = 0;
  // The far end of a local link, or the slot kNoSlot where no link is connected; across(across(x)) == x. Any
  // router can be reached from any other.
  [[nodiscard]] virtual LocalEnd across(const LocalEnd& near) const noexcept = 0;
  // The first so many routers have hosts, and those from `first_global_router()` on have global links.
  [[nodiscard]] virtual std::uint32_t host_routers() const noexcept { return routers(); }
  [[nodiscard]] virtual std::uint32_t first_global_router() const noexcept { return 0; }
  // Whether the local hops of a path share one VC per stage, although a local path has several. Otherwise
  // there is a VC for each hop of the longest local path.
  [[nodiscard]] virtual bool needs_one_vc() const noexcept { return false; }
  [[nodiscard]] virtual std::string global_class() const { return "global"; }
  // The router that is j-th to get global links where an arrangement deals them out one after another.
  [[nodiscard]] virtual std::uint32_t dealt(std::uint32_t j) const noexcept { return j; }

  [[nodiscard]] std::uint32_t ports() const noexcept {
    std::uint32_t total = 0;
    for (const LocalLinks& kind : links()) total += kind.ports;
    return total;
  }
};

// A row of the registry.
struct GroupShapeInfo {
  std::string name;
  std::string summary;
  std::string source;
  std::vector<ParameterInfo> parameters;
  std::shared_ptr<const GroupShape> (*make)(const GroupShapeInfo&, const Parameters&) = nullptr;
};

[[nodiscard]] const std::vector<GroupShapeInfo>& group_shapes();
// Throws ConfigError for an unknown name, parameter or value.
[[nodiscard]] std::shared_ptr<const GroupShape> make_group_shape(std::string_view name,
                                                                 const Parameters& given);

}  // namespace dragonfly
