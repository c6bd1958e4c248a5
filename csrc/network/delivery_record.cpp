#include "network/delivery_record.hpp"

#include <algorithm>

namespace dragonfly {

namespace {

template <class T>
void add_each(std::vector<T>& into, const std::vector<T>& from) {
  if (from.size() > into.size()) into.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) into[i] += from[i];
}

}  // namespace

void HostLatencies::merge(const HostLatencies& other) {
  add_each(latency_ps, other.latency_ps);
  add_each(network_latency_ps, other.network_latency_ps);
  add_each(delivered, other.delivered);
}

void DeliveryRecord::clear() {
  DeliveryRecord fresh;
  fresh.hops.assign(hops.size(), 0);
  fresh.latencies = std::move(latencies);
  fresh.latencies.clear();
  fresh.group_latency_ps.assign(group_latency_ps.size(), 0);
  fresh.group_delivered.assign(group_delivered.size(), 0);
  fresh.hosts.assign(hosts.delivered.size());
  *this = std::move(fresh);
}

void DeliveryRecord::merge(const DeliveryRecord& other) {
  injected += other.injected;
  delivered += other.delivered;
  minimal += other.minimal;
  lost += other.lost;
  latency_ps += other.latency_ps;
  network_latency_ps += other.network_latency_ps;
  latency_min_ps = std::min(latency_min_ps, other.latency_min_ps);
  latency_max_ps = std::max(latency_max_ps, other.latency_max_ps);
  add_each(hops, other.hops);
  latencies.merge(other.latencies);
  if (other.series.size() > series.size()) series.resize(other.series.size());
  for (std::size_t i = 0; i < other.series.size(); ++i) {
    series[i].injected += other.series[i].injected;
    series[i].delivered += other.series[i].delivered;
    series[i].latency_ps += other.series[i].latency_ps;
    series[i].hops += other.series[i].hops;
    series[i].arrived += other.series[i].arrived;
    series[i].arrived_latency_ps += other.series[i].arrived_latency_ps;
  }
  add_each(group_latency_ps, other.group_latency_ps);
  add_each(group_delivered, other.group_delivered);
  hosts.merge(other.hosts);
}

}  // namespace dragonfly
