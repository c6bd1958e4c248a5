#include "topology/group_shape.hpp"

namespace dragonfly {

namespace {

// Every router is joined with every other by one link; port s leads to router s, or s + 1 from s = own index
// on. Source: Kim et al., ISCA 2008, section 3.
class Mesh final : public GroupShape {
 public:
  explicit Mesh(std::uint32_t routers) : routers_{routers}, links_{{"local", routers - 1, 1}} {}

  [[nodiscard]] std::uint32_t routers() const noexcept override { return routers_; }
  [[nodiscard]] const std::vector<LocalLinks>& links() const noexcept override { return links_; }
  [[nodiscard]] LocalEnd across(const LocalEnd& near) const noexcept override {
    const bool behind = near.slot >= near.index;
    return {near.slot + (behind ? 1U : 0U), near.index - (behind ? 0U : 1U)};
  }

 private:
  std::uint32_t routers_;
  std::vector<LocalLinks> links_;
};

}  // namespace

GroupShapeInfo mesh_shape() {
  return {"all-to-all",
          "one link between any two routers",
          "Kim et al., ISCA 2008, section 3",
          {{"routers", 8.0, "routers", "of a group"}},
          [](const GroupShapeInfo& info, const Parameters& given) -> std::shared_ptr<const GroupShape> {
            return std::make_shared<Mesh>(count_parameter(info, given, "routers", 1, kMostRoutersOfGroup));
          }};
}

}  // namespace dragonfly
