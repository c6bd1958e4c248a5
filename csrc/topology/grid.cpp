#include "topology/group_shape.hpp"

namespace dragonfly {

namespace {

// Rows and columns: the routers of a row are joined with each other (rank 1), those of a column too (rank 2),
// by parallel links, which share one port. Router index = row * columns + column; the ports of rank 1 lead to
// the other columns in order, those of rank 2 behind them to the other rows. Source: Alverson et al., "Cray
// XC Series Network", 2012; Faanes et al., "Cray Cascade", SC 2012.
class Grid final : public GroupShape {
 public:
  Grid(std::uint32_t rows, std::uint32_t columns, std::uint32_t row_links, std::uint32_t column_links)
      : rows_{rows},
        columns_{columns},
        links_{{"rank-1", columns - 1, row_links}, {"rank-2", rows - 1, column_links}} {}

  [[nodiscard]] std::uint32_t routers() const noexcept override { return rows_ * columns_; }
  [[nodiscard]] const std::vector<LocalLinks>& links() const noexcept override { return links_; }
  [[nodiscard]] std::string global_class() const override { return "rank-3"; }
  // Column by column.
  [[nodiscard]] std::uint32_t dealt(std::uint32_t j) const noexcept override {
    return j % rows_ * columns_ + j / rows_;
  }

  [[nodiscard]] LocalEnd across(const LocalEnd& near) const noexcept override {
    const std::uint32_t row = near.index / columns_;
    const std::uint32_t column = near.index % columns_;
    const auto other = [](std::uint32_t slot, std::uint32_t own) { return slot + (slot >= own ? 1U : 0U); };
    const auto slot_of = [](std::uint32_t peer, std::uint32_t own) { return peer - (peer > own ? 1U : 0U); };
    if (near.slot + 1 < columns_) {
      const std::uint32_t peer = other(near.slot, column);
      return {row * columns_ + peer, slot_of(column, peer)};
    }
    const std::uint32_t peer = other(near.slot + 1 - columns_, row);
    return {peer * columns_ + column, columns_ - 1 + slot_of(row, peer)};
  }

 private:
  std::uint32_t rows_;
  std::uint32_t columns_;
  std::vector<LocalLinks> links_;
};

std::shared_ptr<const GroupShape> make_grid(const GroupShapeInfo& info, const Parameters& given) {
  const auto count = [&](const char* name, std::uint32_t most) {
    return count_parameter(info, given, name, 1, most);
  };
  const std::uint32_t rows = count("rows", kMostRoutersOfGroup);
  const std::uint32_t columns = count("columns", kMostRoutersOfGroup / rows);
  return std::make_shared<Grid>(rows, columns, count("row_links", kMostBundled),
                                count("column_links", kMostBundled));
}

}  // namespace

GroupShapeInfo grid_shape() {
  return {
      "grid",
      "routers in rows and columns; all of a row are joined, and all of a column",
      "Alverson et al., Cray XC Series Network, 2012",
      {{"rows", 6.0, "routers", "of a column"},
       {"columns", 16.0, "routers", "of a row"},
       {"row_links", 1.0, "links", "parallel ones between two routers of a row, which one port stands for"},
       {"column_links", 3.0, "links", "parallel ones between two routers of a column"}},
      make_grid};
}

}  // namespace dragonfly
