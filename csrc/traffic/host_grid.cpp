#include "traffic/host_grid.hpp"

#include "core/error.hpp"

namespace dragonfly {
namespace {

std::string spelled(const Integers& lengths) {
  std::string text;
  for (const std::int64_t length : lengths) text += (text.empty() ? "" : ";") + std::to_string(length);
  return text;
}

bool fits(const Integers& lengths, std::uint32_t hosts) {
  if (lengths.size() != 3) return false;
  std::uint64_t places = 1;  // below 2^64: every factor that is taken is below 2^32, and so is their product
  for (const std::int64_t length : lengths) {
    if (length < 1 || length > std::int64_t{hosts}) return false;
    places *= static_cast<std::uint64_t>(length);
    if (places > hosts) return false;
  }
  return places == hosts;
}

}  // namespace

HostGrid::HostGrid(const PatternContext& context, const PatternArguments& arguments,
                   const std::string& pattern)
    : area_{context.area} {
  const std::string field = pattern + ".grid";
  const Integers* given = arguments.integers("grid");
  if (given == nullptr && area_->size() != context.topology.num_hosts()) {
    throw ConfigError(
        field, "(missing)",
        "must be given for a part of the system, which need not be whole routers and groups: x;y;z "
        "with x * y * z = " +
            std::to_string(area_->size()));
  }
  if (given != nullptr) {
    if (!fits(*given, area_->size())) {
      throw ConfigError(field, "'" + spelled(*given) + "'",
                        "must be three lengths x;y;z of at least 1 with x * y * z = " +
                            std::to_string(area_->size()) + ", the number of hosts");
    }
    for (std::size_t i = 0; i < 3; ++i) lengths_[i] = static_cast<std::uint32_t>((*given)[i]);
  } else {
    lengths_ = {context.topology.p(), context.topology.host_routers(), context.topology.num_groups()};
  }
}

PatternParameter HostGrid::parameter() {
  return {"grid", "hosts per router; routers per group; groups",
          "lengths x;y;z, whose product is the number of hosts"};
}

}  // namespace dragonfly
