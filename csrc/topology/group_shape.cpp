#include "topology/group_shape.hpp"

#include "core/error.hpp"
#include "core/nearest.hpp"

namespace dragonfly {

// Shapes, one line each.
#define DRAGONFLY_GROUP_SHAPES(X) \
  X(mesh)                         \
  X(grid)                         \
  X(leaf_spine)

#define DRAGONFLY_DECLARE(name) GroupShapeInfo name##_shape();
DRAGONFLY_GROUP_SHAPES(DRAGONFLY_DECLARE)
#undef DRAGONFLY_DECLARE

const std::vector<GroupShapeInfo>& group_shapes() {
#define DRAGONFLY_ROW(name) name##_shape(),
  static const std::vector<GroupShapeInfo> all{DRAGONFLY_GROUP_SHAPES(DRAGONFLY_ROW)};
#undef DRAGONFLY_ROW
  return all;
}

std::shared_ptr<const GroupShape> make_group_shape(std::string_view name, const Parameters& given) {
  std::vector<std::string> names;
  for (const GroupShapeInfo& info : group_shapes()) {
    if (info.name == name) {
      require_known(info, given, "group");
      return info.make(info, given);
    }
    names.push_back(info.name);
  }
  throw ConfigError{"group", "'" + std::string{name} + "'", suggestion(std::string{name}, names)};
}

}  // namespace dragonfly
