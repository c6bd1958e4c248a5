#include "traffic/trace_source.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"

namespace dragonfly {
namespace {

// Checks hosts and routes against the topology, row by row, so that the message names the first wrong row.
class TraceCheck {
 public:
  TraceCheck(const Dragonfly& topology, const TraceColumns& columns) : topology_{topology}, rows_{columns} {}

  void all() const {
    for (std::size_t row = 0; row < rows_.time_ps.size(); ++row) {
      check_host(row, "src", rows_.source[row]);
      check_host(row, "dst", rows_.destination[row]);
      if (!rows_.route_offsets.empty()) check_route(row);
    }
  }

 private:
  [[noreturn]] static void wrong(std::size_t row, const char* field, std::int64_t value,
                                 const std::string& allowed) {
    throw ConfigError("trace row " + std::to_string(row) + " " + field, std::to_string(value), allowed);
  }

  void check_host(std::size_t row, const char* field, std::uint32_t host) const {
    if (host >= topology_.num_hosts()) {
      wrong(row, field, host, "host numbers go from 0 to " + std::to_string(topology_.num_hosts() - 1));
    }
    if (!topology_.host_is_alive(host)) wrong(row, field, host, "must be a host whose router is alive");
  }

  void check_route(std::size_t row) const {
    const auto begin = static_cast<std::size_t>(rows_.route_offsets[row]);
    const auto length = static_cast<std::size_t>(rows_.route_offsets[row + 1]) - begin;
    if (length == 0) return;
    if (length > kMaxRouteRouters) {
      wrong(row, "routers", static_cast<std::int64_t>(length),
            "a route has at most " + std::to_string(kMaxRouteRouters) + " routers");
    }
    const auto route = rows_.routes.subspan(begin, length);
    for (const std::uint32_t router : route) {
      if (router >= topology_.num_routers()) {
        wrong(row, "routers", router,
              "router numbers go from 0 to " + std::to_string(topology_.num_routers() - 1));
      }
    }
    const std::uint32_t first = topology_.router_of_host(rows_.source[row]);
    const std::uint32_t last = topology_.router_of_host(rows_.destination[row]);
    if (route.front() != first) {
      wrong(row, "routers", route.front(), "must start at the source's router, " + std::to_string(first));
    }
    if (route.back() != last) {
      wrong(row, "routers", route.back(), "must end at the destination's router, " + std::to_string(last));
    }
    for (std::size_t i = 1; i < length; ++i) {
      if (topology_.port_to(route[i - 1], route[i]) == kNoPort) {
        wrong(row, "routers", route[i],
              "has no link from the router before, " + std::to_string(route[i - 1]));
      }
    }
  }

  const Dragonfly& topology_;
  const TraceColumns& rows_;
};

class TraceSource final : public TrafficSource {
 public:
  TraceSource(const Dragonfly& topology, const TraceColumns& columns)
      : first_(topology.num_hosts() + 1, 0),
        time_ps_(columns.time_ps.size()),
        entries_(columns.time_ps.size()),
        routes_(columns.routes.begin(), columns.routes.end()) {
    for (const TimePs time : columns.time_ps) step_ps_ = std::gcd(step_ps_, time);
    if (!columns.time_ps.empty()) end_.last_ps = columns.time_ps.back();
    for (const std::uint32_t packets : columns.packets) end_.packets += packets;
    for (const std::uint32_t host : columns.source) ++first_[host + 1];
    for (std::uint32_t host = 0; host < topology.num_hosts(); ++host) first_[host + 1] += first_[host];
    std::vector<std::uint64_t> next(first_.begin(), first_.end() - 1);
    for (std::size_t row = 0; row < columns.time_ps.size(); ++row) {
      const std::uint64_t slot = next[columns.source[row]]++;
      time_ps_[slot] = columns.time_ps[row];
      Entry& entry = entries_[slot];
      entry.destination = columns.destination[row];
      entry.packets = columns.packets[row];
      if (columns.route_offsets.empty()) continue;
      entry.route_begin = static_cast<std::uint64_t>(columns.route_offsets[row]);
      entry.route_length = static_cast<std::uint32_t>(
          static_cast<std::uint64_t>(columns.route_offsets[row + 1]) - entry.route_begin);
      if (entry.route_length > 0)
        needs_.add(routes().subspan(entry.route_begin, entry.route_length), topology.a());
    }
  }

  [[nodiscard]] std::span<const std::uint32_t> routes() const override { return routes_; }

  void start(HostId host, SourceCursor& cursor) const override {
    cursor = SourceCursor{};
    read_time(host, cursor);
  }

  void advance(HostId host, SourceCursor& cursor) const override {
    ++cursor.message;
    read_time(host, cursor);
  }

  [[nodiscard]] bool regenerates() const override { return false; }
  [[nodiscard]] TimePs step_ps() const override { return step_ps_; }
  [[nodiscard]] std::optional<SourceEnd> end() const override { return end_; }
  void skip(HostId host, SourceCursor& cursor) const override { advance(host, cursor); }

  Message describe(HostId host, const SourceCursor& cursor) const override {
    const Entry& entry = entries_[first_[host.value] + cursor.message];
    return {.destination = HostId{entry.destination},
            .packets = entry.packets,
            .route = {routes_.data() + entry.route_begin, entry.route_length}};
  }

  RouteNeeds route_needs() const override { return needs_; }

 private:
  struct Entry {
    std::uint32_t destination = 0;
    std::uint32_t packets = 1;
    std::uint64_t route_begin = 0;
    std::uint32_t route_length = 0;
  };

  void read_time(HostId host, SourceCursor& cursor) const {
    const std::uint64_t slot = first_[host.value] + cursor.message;
    cursor.time_ps = slot < first_[host.value + 1] ? time_ps_[slot] : kNever;
  }

  std::vector<std::uint64_t> first_;  // [host]: its first message; the last entry is the end
  std::vector<TimePs> time_ps_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> routes_;
  TimePs step_ps_ = 0;
  SourceEnd end_;
  RouteNeeds needs_;
};

}  // namespace

std::unique_ptr<TrafficSource> make_trace_source(const Dragonfly& topology, const TraceColumns& columns) {
  TraceCheck{topology, columns}.all();
  return std::make_unique<TraceSource>(topology, columns);
}

}  // namespace dragonfly
