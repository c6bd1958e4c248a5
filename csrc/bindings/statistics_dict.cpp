#include "bindings/statistics_dict.hpp"

#include <pybind11/numpy.h>

#include <vector>

#include "bindings/columns.hpp"

namespace py = pybind11;

namespace dragonfly {

namespace {

// The middle of each bucket, in ps.
py::array_t<double> bucket_middles(const LatencyHistogram& histogram) {
  const std::size_t buckets = histogram.counts().size();
  py::array_t<double> middles(static_cast<py::ssize_t>(buckets));
  constexpr double kUnit = 1U << DeliveryRecord::kHistogramShift;
  for (std::size_t i = 0; i < buckets; ++i) {
    middles.mutable_data()[i] = (LatencyHistogram::middle_of(i) + 0.5) * kUnit;
  }
  return middles;
}

py::dict series_dict(const Statistics& s) {
  const std::size_t first =
      std::min(static_cast<std::size_t>(s.start_ps / s.series_bin_ps), s.deliveries.series.size());
  const std::vector<SeriesBin> bins(s.deliveries.series.begin() + static_cast<std::ptrdiff_t>(first),
                                    s.deliveries.series.end());
  py::dict series;
  series["generated"] = column<std::int64_t>(bins, [](const SeriesBin& b) { return b.injected; });
  series["delivered"] = column<std::int64_t>(bins, [](const SeriesBin& b) { return b.delivered; });
  series["latency_sum_ps"] = column<std::int64_t>(bins, [](const SeriesBin& b) { return b.latency_ps; });
  series["hops_sum"] = column<std::int64_t>(bins, [](const SeriesBin& b) { return b.hops; });
  series["arrived"] = column<std::int64_t>(bins, [](const SeriesBin& b) { return b.arrived; });
  series["arrived_latency_sum_ps"] =
      column<std::int64_t>(bins, [](const SeriesBin& b) { return b.arrived_latency_ps; });
  return series;
}

// Columns of the classes of a job's messages by size; the last is a list of histograms.
py::dict slowdown_columns(const SlowdownRecord& record) {
  const auto& sizes = record.classes;
  using Class = SlowdownRecord::SizeClass;
  py::dict columns;
  columns["messages"] = column<std::int64_t>(sizes, [](const Class& one) { return one.messages; });
  columns["arrived"] = column<std::int64_t>(sizes, [](const Class& one) { return one.packets; });
  columns["late"] = column<std::int64_t>(sizes, [](const Class& one) { return one.late; });
  columns["farthest"] = column<std::int64_t>(sizes, [](const Class& one) { return one.farthest; });
  py::list histograms;
  for (const Class& one : sizes) histograms.append(to_array<std::int64_t>(one.slowdowns.counts()));
  columns["histograms"] = histograms;
  return columns;
}

// A dictionary per job: unfinished tasks, end of the last finished task, received messages, their slowdowns
// if these are recorded, and counts per operation, in the order of the operations.
py::list job_rows(const WorkloadStatistics& s, const Simulation& simulation) {
  py::list rows;
  for (std::uint32_t job = 0; job < s.jobs.size(); ++job) {
    py::dict row;
    row["unfinished"] = s.jobs[job].unfinished;
    row["end_ps"] = simulation.ps_of(s.jobs[job].last_end);
    row["packets_delivered"] = s.jobs[job].packets_delivered;
    const std::vector<OperationRecord> own{
        s.operations.begin() + simulation.workload()->first_operation(job),
        s.operations.begin() + simulation.workload()->first_operation(job + 1)};
    row["counts"] = column<std::int64_t>(own, [](const OperationRecord& o) { return o.count; });
    row["total_ps"] = column<std::int64_t>(own, [](const OperationRecord& o) { return o.total_ps; });
    row["max_ps"] = column<std::int64_t>(own, [](const OperationRecord& o) { return o.max_ps; });
    const OperationRecord& messages = s.jobs[job].messages;
    row["messages"] = py::make_tuple(messages.count, messages.total_ps, messages.max_ps);
    if (!s.jobs[job].slowdowns.classes.empty()) row["slowdowns"] = slowdown_columns(s.jobs[job].slowdowns);
    rows.append(row);
  }
  return rows;
}

void add_workload(py::dict& out, const WorkloadStatistics& s) {
  out["makespan_ps"] = s.makespan_ps;
  out["messages_sent"] = s.messages.sent;
  out["messages_delivered"] = s.messages.delivered;
  out["message_latency_sum_ps"] = s.messages.latency_ps;
  out["message_latency_min_ps"] = s.messages.delivered > 0 ? s.messages.latency_min_ps : 0;
  out["message_latency_max_ps"] = s.messages.latency_max_ps;
  out["message_latency_histogram"] = to_array<std::int64_t>(s.messages.latencies.counts());
  out["message_latency_bucket_ps"] = bucket_middles(s.messages.latencies);
}

// Writes the entries that both dictionaries have.
py::dict common_dict(const Counters& s, const Simulation& simulation) {
  py::dict out;
  out["start_ps"] = s.start_ps;
  out["now_ps"] = s.now_ps;
  out["link_packets"] = to_array<std::int64_t>(s.ports.sent);
  out["link_stall_ps"] = to_array<std::int64_t>(s.ports.output_stall_ps);
  out["input_stall_ps"] = to_array<std::int64_t>(s.ports.input_stall_ps);
  out["host_sent"] = to_array<std::int64_t>(s.host_sent);
  if (!s.hosts.delivered.empty()) {
    out["host_delivered"] = to_array<std::int64_t>(s.hosts.delivered);
    out["host_latency_sum_ps"] = to_array<std::int64_t>(s.hosts.latency_ps);
    out["host_network_latency_sum_ps"] = to_array<std::int64_t>(s.hosts.network_latency_ps);
  }
  py::dict per_class;
  for (std::size_t i = 0; i < s.link_packet_ps.size(); ++i) {
    per_class[py::str(simulation.topology().class_name(static_cast<LinkClass>(i)))] = s.link_packet_ps[i];
  }
  out["link_busy_ps_per_packet"] = per_class;
  if (s.workload) out["jobs"] = job_rows(*s.workload, simulation);
  return out;
}

}  // namespace

py::dict counters_dict(Simulation& simulation) {
  const Counters s = [&] {
    const py::gil_scoped_release release;
    return simulation.counters();
  }();
  return common_dict(s, simulation);
}

py::dict totals_dict(Simulation& simulation) {
  const Totals totals = [&] {
    const py::gil_scoped_release release;
    return simulation.totals();
  }();
  py::dict out;
  out["now_ps"] = totals.now_ps;
  out["generated"] = totals.generated;
  out["lost"] = totals.lost;
  out["delivered"] = totals.delivered;
  out["latency_sum_ps"] = totals.latency_ps;
  return out;
}

py::dict statistics_dict(Simulation& simulation) {
  const Statistics s = [&] {
    const py::gil_scoped_release release;
    return simulation.statistics();
  }();
  const DeliveryRecord& d = s.deliveries;
  py::dict out = common_dict(s, simulation);
  out["generated"] = s.generated;
  out["lost"] = d.lost;
  out["injected"] = d.injected;
  out["delivered"] = d.delivered;
  out["in_network"] = s.in_network;
  out["in_source_queues"] = s.in_source_queues;
  out["packet_time_ps"] = s.packet_time_ps;
  out["latency_sum_ps"] = d.latency_ps;
  out["network_latency_sum_ps"] = d.network_latency_ps;
  std::uint64_t hops = 0;
  for (std::size_t i = 0; i < d.hops.size(); ++i) hops += i * d.hops[i];
  out["hops_sum"] = hops;
  out["minimal_delivered"] = d.minimal;
  out["latency_min_ps"] = d.delivered > 0 ? d.latency_min_ps : 0;
  out["latency_max_ps"] = d.latency_max_ps;
  out["latency_histogram"] = to_array<std::int64_t>(d.latencies.counts());
  out["latency_bucket_ps"] = bucket_middles(d.latencies);
  if (s.workload) add_workload(out, *s.workload);
  out["hop_histogram"] = to_array<std::int64_t>(d.hops);
  out["router_delivered"] = to_array<std::int64_t>(s.router_delivered);
  out["router_injected"] = to_array<std::int64_t>(s.router_injected);
  out["link_queued_packets"] = to_array<std::int64_t>(s.link_queued);
  out["link_occupancy_packets"] = to_array<std::int64_t>(s.link_occupancy);
  out["packet_hops"] = s.packet_hops;
  if (s.trace_end_ps >= 0) out["trace_end_ps"] = s.trace_end_ps;
  out["demanded_load"] = s.offered.mean;
  out["destination_load_max"] = s.offered.busiest;
  if (s.series_bin_ps > 0) {
    out["series"] = series_dict(s);
    out["series_bin_ps"] = s.series_bin_ps;
    out["series_start_ps"] = s.start_ps / s.series_bin_ps * s.series_bin_ps;
  }
  if (!d.group_delivered.empty()) {
    const auto g = static_cast<py::ssize_t>(simulation.topology().num_groups());
    out["group_latency_sum_ps"] = to_array<std::int64_t>(d.group_latency_ps).reshape({g, g});
    out["group_delivered"] = to_array<std::int64_t>(d.group_delivered).reshape({g, g});
  }
  return out;
}

}  // namespace dragonfly
