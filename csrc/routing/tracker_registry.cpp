// All trackers by name.
#include <algorithm>

#include "core/error.hpp"
#include "core/nearest.hpp"
#include "routing/router_tracker.hpp"

namespace dragonfly {

// Files of trackers/, one line each: X(name) means `TrackerInfo name_tracker()` in trackers/name.cpp.
// clang-format off
#define DRAGONFLY_TRACKERS(X) \
  X(acknowledged_waits)     \
  X(congested_links)        \
  X(host_load)              \
  X(link_occupancy)         \
  X(offered_traffic)        \
  X(remote_traffic)         \
  X(sent_crossings)         \
  X(nonminimal_length)          \
  X(load_levels)
// clang-format on

#define DRAGONFLY_DECLARE(name) TrackerInfo name##_tracker();
DRAGONFLY_TRACKERS(DRAGONFLY_DECLARE)
#undef DRAGONFLY_DECLARE

const std::vector<TrackerInfo>& tracker_registry() {
#define DRAGONFLY_MAKE(name) name##_tracker(),
  static const std::vector<TrackerInfo> registry{DRAGONFLY_TRACKERS(DRAGONFLY_MAKE)};
#undef DRAGONFLY_MAKE
  return registry;
}

const TrackerInfo& find_tracker(std::string_view name) {
  const auto& registry = tracker_registry();
  const auto it = std::ranges::find_if(registry, [&](const TrackerInfo& info) { return info.name == name; });
  if (it != registry.end()) return *it;
  std::vector<std::string> names;
  for (const TrackerInfo& info : registry) names.push_back(info.name);
  throw ConfigError{"trackers", "'" + std::string{name} + "'", suggestion(name, names)};
}

TrackerRequest request_tracker(std::string_view name, const Parameters& given) {
  const TrackerInfo& info = find_tracker(name);
  require_known(info, given, "tracker");
  return {&info, with_defaults(info, given)};
}

TrackerRequest request_tracker(std::string_view name, const ParameterOwner& policy, const Parameters& given) {
  Parameters shared;
  const Parameters own = with_defaults(policy, given);
  for (const ParameterInfo& parameter : find_tracker(name).parameters) {
    if (const auto it = own.find(parameter.name); it != own.end()) shared.insert(*it);
  }
  return request_tracker(name, shared);
}

TrackerRequest request_tracker(const TrackedFeature& feature, const Parameters& given) {
  TrackerRequest request = request_tracker(feature.tracker->name, given);
  request.messages = feature.shown().knowledge == Knowledge::kDelayed;
  return request;
}

bool add_request(std::vector<TrackerRequest>& all, const TrackerRequest& added) {
  const auto running = std::ranges::find(all, added.info, &TrackerRequest::info);
  if (running == all.end()) {
    all.push_back(added);
    return true;
  }
  running->messages = running->messages || added.messages;
  return running->parameters == added.parameters;
}

const char* TrackedFeature::per() const noexcept {
  if (of_candidates) return "candidate";
  switch (shown().per) {
    case TrackedPer::kRouter:
    case TrackedPer::kDestination:
      return "decision";
    case TrackedPer::kPort:
      return "port";
    case TrackedPer::kFirstGlobalHop:
    case TrackedPer::kBetweenLinks:
    case TrackedPer::kLastLinkType:
    case TrackedPer::kAcknowledged:
      return "candidate";
    case TrackedPer::kGroup:
      return "group";
    case TrackedPer::kPeer:
      return "peer";
    case TrackedPer::kGroupLink:
      break;
  }
  return "link";
}

const std::vector<TrackedFeature>& tracked_features() {
  static const std::vector<TrackedFeature> all = [] {
    std::vector<TrackedFeature> features;
    for (const TrackerInfo& info : tracker_registry()) {
      for (std::uint32_t i = 0; i < info.fields.size(); ++i) {
        const TrackedField& field = info.fields[i];
        features.push_back({field.name, &info, i, false});
        if (!field.of_candidates.empty()) features.push_back({field.of_candidates, &info, i, true});
      }
    }
    return features;
  }();
  return all;
}

const TrackedFeature& find_tracked_feature(std::string_view name) {
  const auto& all = tracked_features();
  const auto it = std::ranges::find(all, name, &TrackedFeature::name);
  if (it != all.end()) return *it;
  std::vector<std::string> names;
  for (const TrackedFeature& feature : all) names.push_back(feature.name);
  throw ConfigError{"features", "'" + std::string{name} + "'", suggestion(name, names)};
}

}  // namespace dragonfly
