#include "routing/row_format.hpp"

#include <algorithm>
#include <string_view>

namespace dragonfly {

namespace {

// Columns of ports, then of the decision, and nothing that routers remember; counts fit 16 bits.
bool can_pack(const ObservationPlan& plan) {
  if (!plan.by_port() || !plan.masks || plan.layout.num_features() == 0) return false;
  if (!plan.spec.tracked.empty() || plan.layout.most_packets() > 0xffff) return false;
  return std::ranges::is_partitioned(plan.layout.blocks(),
                                     [](const FeatureBlock& block) { return block.per == "port"; });
}

}  // namespace

RowFormat::RowFormat(const ObservationPlan& plan)
    : plan_{plan},
      packed_{can_pack(plan)},
      bytes_{plan.layout.num_features() * sizeof(float) + (plan.num_actions + 3U) / 4U * 4U},
      queued_{plan.layout.find("queue_packets") != nullptr},
      in_use_{plan.layout.find("credits_in_use") != nullptr},
      minimal_{plan.layout.find("is_minimal")} {
  if (!packed_) return;
  for (const bool shown : {queued_, in_use_}) {  // the first columns, in this order
    for (std::uint32_t i = 0; shown && i < plan.num_ports; ++i) {
      per_packet_.push_back(plan.layout.per_packet(static_cast<Port>(plan.first_port + i)));
    }
  }
  const std::uint32_t columns = plan.layout.num_features();
  first_decision_ = columns;
  for (const FeatureBlock& block : plan.layout.blocks()) {
    if (block.per != "port") first_decision_ = std::min(first_decision_, block.offset);
  }
  constant_.assign(first_decision_ - per_packet_.size(), 0.0F);
  if (const FeatureBlock* const links = plan.layout.find("link_class")) {
    std::ranges::copy(plan.layout.link_classes(),
                      constant_.begin() + static_cast<std::ptrdiff_t>(links->offset - per_packet_.size()));
  }
  decision_bytes_ = static_cast<std::uint32_t>((columns - first_decision_) * sizeof(float));
  bytes_ = (kHeadBytes + decision_bytes_ + per_packet_.size() * sizeof(std::uint16_t) + 3U) / 4U * 4U;
}

void RowFormat::pack(std::byte* row, const RouteContext& context, std::uint64_t legal, Port minimal,
                     std::uint32_t recent, Tick now) const noexcept {
  const auto action = static_cast<std::uint32_t>(minimal - plan_.first_port);
  std::memcpy(row, &legal, sizeof(legal));
  std::memcpy(row + sizeof(legal), &action, sizeof(action));
  row += kHeadBytes;
  plan_.layout.fill_decision(reinterpret_cast<float*>(row), context, recent, now);
  auto* counts = reinterpret_cast<std::uint16_t*>(row + decision_bytes_);
  const RouterPorts ports = context.ports();
  const std::uint32_t end = plan_.first_port + plan_.num_ports;
  if (queued_ && in_use_) {  // one look at each port
    for (std::uint32_t i = plan_.first_port; i < end; ++i, ++counts) {
      const OutputPort& port = ports[i];
      const std::uint32_t queued = port.queued;
      counts[0] = static_cast<std::uint16_t>(queued);
      counts[plan_.num_ports] = static_cast<std::uint16_t>(port.credits_in_use());
    }
  } else if (queued_) {
    for (std::uint32_t i = plan_.first_port; i < end; ++i) {
      *counts++ = static_cast<std::uint16_t>(ports[i].queued);
    }
  } else if (in_use_) {
    for (std::uint32_t i = plan_.first_port; i < end; ++i) {
      *counts++ = static_cast<std::uint16_t>(ports[i].credits_in_use());
    }
  }
}

void RowFormat::unpack(const std::byte* row, float* features, std::uint8_t* mask) const noexcept {
  if (!packed_) {
    const std::size_t columns = plan_.layout.num_features() * sizeof(float);
    std::memcpy(features, row, columns);
    std::memcpy(mask, row + columns, plan_.num_actions);
    return;
  }
  const Head head = head_of(row);
  spread_bits(head.legal, plan_.num_actions, mask);
  row += kHeadBytes;
  const std::size_t counted = per_packet_.size();
  float* const __restrict shown = features;
  const float* const __restrict unit = per_packet_.data();
  const auto* const __restrict counts = reinterpret_cast<const std::uint16_t*>(row + decision_bytes_);
  for (std::size_t i = 0; i < counted; ++i) shown[i] = static_cast<float>(counts[i]) * unit[i];
  std::ranges::copy(constant_, features + counted);
  std::memcpy(features + first_decision_, row, decision_bytes_);
  if (minimal_ != nullptr) features[minimal_->offset + head.minimal] = 1.0F;
}

}  // namespace dragonfly
