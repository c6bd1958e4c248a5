#include <string>

#include "core/error.hpp"
#include "traffic/registry.hpp"

namespace dragonfly {
namespace {

// Group G sends to the group half-way round the ring of groups, each host to the host of its own
// index there. In an area whose groups differ in size indices wrap.
class Tornado final : public TrafficPattern {
 public:
  explicit Tornado(std::shared_ptr<const Area> area)
      : area_{std::move(area)}, offset_{area_->num_groups() / 2} {
    if (offset_ == 0) throw ConfigError("tornado", "1 group", "needs at least two groups");
  }

  HostId destination(HostId source, std::uint64_t, RandomStream&) const override { return partner(source); }

  void add_received(std::span<const double> sent, std::span<double> received) const override {
    for (std::uint32_t index = 0; index < area_->size(); ++index) {
      const HostId source{area_->host(index)};
      received[partner(source).value] += sent[source.value];
    }
  }

 private:
  [[nodiscard]] HostId partner(HostId source) const {
    const std::uint32_t group = area_->group_of(source.value);
    const std::uint32_t target = area_->group_after(group, offset_);
    std::uint32_t index = area_->index_of(source.value) - area_->first_of(group);
    while (index >= area_->size_of(target)) index -= area_->size_of(target);
    return HostId{area_->host(area_->first_of(target) + index)};
  }

  std::shared_ptr<const Area> area_;
  std::uint32_t offset_;
};

PatternPtr make_tornado(const PatternContext& context, const PatternArguments&) {
  return std::make_shared<Tornado>(context.area);
}

}  // namespace

// The tornado of rings, k/2 - 1 nodes ahead (rounded up), applied to groups. For an odd number of
// groups, which every full balanced Dragonfly has, that is floor(g / 2); an even one has no single
// half-way group in the original, and the exact one is taken here.
PatternInfo tornado_pattern() {
  return {.name = "tornado",
          .summary = "each host of group G sends to the host of its own index in group G + floor(g/2)",
          .source =
              "Dally and Towles, Principles and Practices of Interconnection Networks, 2004, section 3.2, "
              "with groups as the nodes of the ring",
          .example = "tornado",
          .parameters = {},
          .factory = make_tornado};
}

}  // namespace dragonfly
