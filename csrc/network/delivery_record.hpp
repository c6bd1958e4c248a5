// Counts of packets that enter and leave the network: one record per partition, merged exactly.
#pragma once

#include <cstdint>
#include <vector>

#include "core/histogram.hpp"
#include "core/time.hpp"
#include "network/blueprint.hpp"
#include "routing/packet.hpp"

namespace dragonfly {

// A line of the packet log.
struct LoggedPacket {
  std::uint32_t source = 0, destination = 0, number = 0;
  TimePs created = 0, injected = 0, delivered = 0;
  std::uint8_t hops = 0;
  bool minimal = true;
  std::uint8_t path_kind = 0;  // Packet::path_kind()
  std::vector<std::uint32_t> routers;
  void archive(Archive& archive) {
    archive(source, destination, number, created, injected, delivered, hops, minimal, path_kind, routers);
  }
};

struct SeriesBin {
  std::int64_t injected = 0, delivered = 0, latency_ps = 0, hops = 0;
  // The packets that entered their source queue in the bin, as far as they were delivered.
  std::int64_t arrived = 0, arrived_latency_ps = 0;
  static constexpr bool kArchivedWhole = true;
};

// Latencies of delivered packets by source host; empty unless requested. Every partition has a row for each
// host of the network, as it delivers packets from everywhere.
struct HostLatencies {
  std::vector<std::int64_t> latency_ps;          // [host]: from generation
  std::vector<std::int64_t> network_latency_ps;  // [host]: from leaving the source queue
  std::vector<std::uint64_t> delivered;          // [host]

  [[nodiscard]] static std::uint64_t bytes_per_host() noexcept { return 3 * sizeof(std::uint64_t); }
  void assign(std::size_t hosts) {
    latency_ps.assign(hosts, 0);
    network_latency_ps.assign(hosts, 0);
    delivered.assign(hosts, 0);
  }
  void add(std::uint32_t host, std::int64_t latency, std::int64_t network_latency) noexcept {
    latency_ps[host] += latency;
    network_latency_ps[host] += network_latency;
    ++delivered[host];
  }
  void merge(const HostLatencies& other);
  void archive(Archive& archive) {
    archive.fixed(latency_ps);
    archive.fixed(network_latency_ps);
    archive.fixed(delivered);
  }
};

struct DeliveryRecord {
  std::uint64_t injected = 0;  // packets that left their source queue
  std::uint64_t delivered = 0;
  std::uint64_t minimal = 0;  // delivered without ever leaving the minimal path
  std::uint64_t lost = 0;     // trials lost to a full source queue
  std::int64_t latency_ps = 0;
  std::int64_t network_latency_ps = 0;
  std::int64_t latency_min_ps = INT64_MAX;
  std::int64_t latency_max_ps = 0;
  std::vector<std::uint64_t> hops = std::vector<std::uint64_t>(16, 0);  // histogram
  LatencyHistogram latencies;                                           // latencies in units of 128 ps
  std::vector<SeriesBin> series;
  std::vector<std::int64_t> group_latency_ps;  // [source group * g + destination group]
  std::vector<std::uint64_t> group_delivered;
  HostLatencies hosts;
  std::vector<LoggedPacket> log;

  static constexpr int kHistogramShift = 7;  // 2^7 ps

  void clear();
  void merge(const DeliveryRecord& other);
  void archive(Archive& archive) {
    archive(injected, delivered, minimal, lost, latency_ps, network_latency_ps, latency_min_ps,
            latency_max_ps, hops, latencies, series, hosts, log);
    archive.fixed(group_latency_ps);
    archive.fixed(group_delivered);
  }
};

namespace detail {

// Finaliser of SplitMix64 (Steele et al., OOPSLA 2014): a bijection with full avalanche.
constexpr std::uint64_t mix(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

}  // namespace detail

// A 64-bit digest of one delivery; the trace hash is the sum over all, so order does not matter.
[[nodiscard]] inline std::uint64_t delivery_digest(const Packet& packet, TimePs created,
                                                   TimePs delivered) noexcept {
  std::uint64_t x =
      detail::mix((std::uint64_t{packet.source_host} << 32 | packet.number) + 0x9e3779b97f4a7c15ULL);
  x = detail::mix(x ^ (std::uint64_t{packet.destination_host} << 8 | packet.hops));
  x = detail::mix(x + static_cast<std::uint64_t>(created));
  return detail::mix(x ^ static_cast<std::uint64_t>(delivered));
}

}  // namespace dragonfly
