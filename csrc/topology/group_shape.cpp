#include "topology/group_shape.hpp"

#include "core/error.hpp"
#include "core/nearest.hpp"

namespace dragonfly {

GroupShapeInfo mesh_shape();
GroupShapeInfo grid_shape();

const std::vector<GroupShapeInfo>& group_shapes() {
  static const std::vector<GroupShapeInfo> all{
      mesh_shape(),
      grid_shape(),
  };
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
