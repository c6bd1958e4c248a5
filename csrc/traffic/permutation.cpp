#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "traffic/registry.hpp"

namespace dragonfly {
namespace {

using Order = std::vector<std::uint32_t>;

// Fisher-Yates; attempt and position name the draws.
Order shuffled_order(const PatternContext& context, std::uint32_t attempt) {
  Order order(context.area->size());
  std::iota(order.begin(), order.end(), 0U);
  for (std::uint32_t last = context.area->size() - 1; last > 0; --last) {
    const std::uint64_t index = (std::uint64_t{attempt} << 32) | last;
    RandomStream random{context.seed, Purpose::kPattern, context.part, index};
    std::swap(order[last], order[random.below(last + 1)]);
  }
  return order;
}

bool has_fixed_point(const Order& order) {
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i] == i) return true;
  }
  return false;
}

// A fixed partner for each host, drawn by the seed.
class Permutation final : public TrafficPattern {
 public:
  explicit Permutation(const PatternContext& context) : area_{context.area} {
    // A shuffle has no fixed point in one of e cases: drawing again keeps all derangements equally likely.
    // The attempts are numbered by 8 bits; that all of them fail has a probability of 10^-51.
    constexpr std::uint32_t kAttempts = 255;
    std::uint32_t attempt = 0;
    Order order = shuffled_order(context, attempt);
    while (area_->size() > 1 && has_fixed_point(order) && ++attempt < kAttempts) {
      order = shuffled_order(context, attempt);
    }
    partner_ = std::move(order);
  }

  HostId destination(HostId source, std::uint64_t, RandomStream&) const override {
    return HostId{area_->host(partner_[area_->index_of(source.value)])};
  }

  void add_received(std::span<const double> sent, std::span<double> received) const override {
    for (std::uint32_t index = 0; index < area_->size(); ++index)
      received[area_->host(partner_[index])] += sent[area_->host(index)];
  }

 private:
  std::shared_ptr<const Area> area_;
  Order partner_;
};

PatternPtr make_permutation(const PatternContext& context, const PatternArguments&) {
  return std::make_shared<Permutation>(context);
}

}  // namespace

PatternInfo permutation_pattern() {
  return {
      .name = "permutation",
      .summary = "each host always sends to the same other host; a random permutation fixed by the seed",
      .source = "Dally and Towles, Principles and Practices of Interconnection Networks, 2004, section 3.2",
      .example = "permutation",
      .parameters = {},
      .factory = make_permutation};
}

}  // namespace dragonfly
