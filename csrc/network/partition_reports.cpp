// What routers that are asked from outside hear of the hops that they chose.
#include "network/partition.hpp"

namespace dragonfly {

// With the credit for the place that a packet leaves. Precondition: reports are kept.
void Partition::report_hop(const InputPort& port, std::uint32_t packet, Tick now) {
  HopReports& reports = desk_->reports();
  if (port.link_class != LinkClass::kHost) {
    const std::uint32_t from =
        plan_.partition_first_group[port.upstream_partition] * plan_.topology.a() + port.upstream / radix_;
    reports.left(packet, packets_[packet], from, static_cast<Port>(port.upstream % radix_),
                 now + plan_.timing.credit_delay[static_cast<std::size_t>(port.link_class)]);
  }
  reports.move_on(packet, packets_[packet]);
}

}  // namespace dragonfly
