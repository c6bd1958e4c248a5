#include <algorithm>

#include "topology/group_shape.hpp"

namespace dragonfly {

namespace {

// Leaves with hosts and without global links, spines with global links and without hosts; each leaf is joined
// with each spine by parallel links, which share one port. Leaves come first. Port s of a leaf leads to spine
// s, port s of a spine to leaf s; the kind of which there are fewer leaves its last ports dark.
//
// A VC per stage is enough (group_shape.hpp): a local link leads up or down. Packets turn from up to down
// only on the way from a leaf to another leaf of the group: to the destination, or to the intermediate router
// of a path inside the group. They turn from down to up only between two global links, or where a spine
// changes the path of a packet that a leaf has sent up. The first are in the last two stages, the others in
// the stages before (PathBudget::own_group_nonminimal), so no circle of up and down closes. Source: Shpiner
// et al., "Dragonfly+: Low Cost Topology for Scaling Datacenters", HiPINEB 2017.
class LeafSpine final : public GroupShape {
 public:
  LeafSpine(std::uint32_t leaves, std::uint32_t spines, std::uint32_t links)
      : leaves_{leaves}, spines_{spines}, links_{{"local", std::max(leaves, spines), links}} {}

  [[nodiscard]] std::uint32_t routers() const noexcept override { return leaves_ + spines_; }
  [[nodiscard]] const std::vector<LocalLinks>& links() const noexcept override { return links_; }
  [[nodiscard]] std::uint32_t host_routers() const noexcept override { return leaves_; }
  [[nodiscard]] std::uint32_t first_global_router() const noexcept override { return leaves_; }
  [[nodiscard]] bool needs_one_vc() const noexcept override { return true; }

  [[nodiscard]] LocalEnd across(const LocalEnd& near) const noexcept override {
    const bool is_leaf = near.index < leaves_;
    if (near.slot >= (is_leaf ? spines_ : leaves_)) return {near.index, kNoSlot};
    return is_leaf ? LocalEnd{leaves_ + near.slot, near.index} : LocalEnd{near.slot, near.index - leaves_};
  }

 private:
  std::uint32_t leaves_;
  std::uint32_t spines_;
  std::vector<LocalLinks> links_;
};

std::shared_ptr<const GroupShape> make_leaf_spine(const GroupShapeInfo& info, const Parameters& given) {
  const std::uint32_t leaves = count_parameter(info, given, "leaves", 1, kMostRoutersOfGroup - 1);
  const std::uint32_t spines = count_parameter(info, given, "spines", 1, kMostRoutersOfGroup - leaves);
  return std::make_shared<LeafSpine>(leaves, spines, count_parameter(info, given, "links", 1, kMostBundled));
}

}  // namespace

GroupShapeInfo leaf_spine_shape() {
  return {"leaf-spine",
          "leaves with hosts, spines with global links; each leaf is joined with each spine",
          "Shpiner et al., Dragonfly+, HiPINEB 2017",
          {{"leaves", 4.0, "routers", "that have hosts, and no global links"},
           {"spines", 4.0, "routers", "that have global links, and no hosts"},
           {"links", 1.0, "links", "parallel ones between a leaf and a spine, which one port stands for"}},
          make_leaf_spine};
}

}  // namespace dragonfly
