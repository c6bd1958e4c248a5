#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <ranges>
#include <string>
#include <utility>
#include <variant>

#include "routing/gateways.hpp"
#include "routing/load_level.hpp"
#include "routing/nonminimal.hpp"
#include "routing/policy.hpp"

namespace dragonfly {

namespace {

constexpr std::uint32_t kMostShift = 2;
constexpr std::uint32_t kMostAdd = 63;

// The change of a load before the comparison: (load << shift) + add.
struct Bias {
  std::uint32_t shift = 0;
  std::uint32_t add = 0;
  [[nodiscard]] std::uint32_t of(std::uint32_t load) const noexcept { return (load << shift) + add; }
};

// Biases by hops taken: none, one, more.
using Biases = std::array<Bias, 3>;
constexpr std::array<const char*, 3> kHopClasses{"first", "second", "later"};

struct Mode {
  const char* name;
  const char* summary;
  Biases nonminimal;
};

// Source: Chunduri et al., IPDPS 2021, section II-D. The numbers of AD1 are not public: that its bias grows
// with the hops taken is (US patent 9,577,918); that it does so by shifts of 0, 1 and 2 is assumed.
constexpr std::array<Mode, 4> kModes{{
    {"ad0", "Aries without a bias: a non-minimal path as soon as it is less loaded", {}},
    {"ad1",
     "Aries with a bias towards minimal paths that grows with the hops taken",
     {{{0, 0}, {1, 0}, {2, 0}}}},
    {"ad2",
     "Aries with a small bias: a non-minimal path must be four levels less loaded",
     {{{0, 4}, {0, 4}, {0, 4}}}},
    {"ad3",
     "Aries with a strong bias: a non-minimal path must be four times less loaded",
     {{{2, 0}, {2, 0}, {2, 0}}}},
}};

constexpr std::uint32_t kAnyGateway = 1;  // index into the parameter's names

enum class Ties : std::uint32_t { kMinimal, kNonminimal, kRandom };

struct AdParams : NonMinimalParams {
  using NonMinimalParams::NonMinimalParams;
  Count minimal_candidates{
      this,
      {"minimal_candidates", 2.0, "paths",
       "minimal paths that the router draws, to compare the least loaded one", whole(1, 16)}};
  Count nonminimal_candidates{
      this,
      {"nonminimal_candidates", 2.0, "paths",
       "non-minimal paths that the router draws, to compare the least loaded one", whole(1, 16)}};
  Choice ties{this,
              {"ties", std::string{"minimal"}, "", "path that is taken if both biased loads are equal",
               among({"minimal", "nonminimal", "random"})}};
  Choice gateways{this,
                  {"gateways", std::string{"nearest"}, "",
                   "gateway by which a minimal path leaves the source group: the nearest, or a random one, "
                   "drawn at the source router",
                   among({"nearest", "any"})}};
  Choice decide{this,
                {"decide", std::string{"progressive"}, "",
                 "routers that decide: the source router alone, or later routers of the path again",
                 among({"progressive", "source"})}};
  Choice later_nonminimal{this,
                          {"later_nonminimal", std::string{"own-links"}, "",
                           "global links that a non-minimal path may use if a later router of the source "
                           "group chooses it: the links of that router alone, or any",
                           among({"own-links", "any"})}};
  Flag in_group{this,
                {"in_group", true, "",
                 "whether packets may take non-minimal paths inside a group, by a third router: in their own "
                 "group if they stay there, and in their intermediate group"}};
  Flag in_destination_group{
      this,
      {"in_destination_group", false, "",
       "whether packets from other groups may also take a non-minimal path inside their destination group"}};
};

// Aries: the source router compares the least loaded of some shortest paths with the least loaded of some
// non-minimal paths by a random other group. Later routers of the source group compare again while the packet
// is on a minimal path, but only with their own global links: local dimensions are crossed in a fixed order,
// so a packet cannot turn to another gateway (`later_nonminimal`). The router by which a packet enters its
// intermediate group, and the source router of a packet that stays in its group, compare likewise with
// paths by a random router of the group. In its destination group a packet goes minimally, unless
// `in_destination_group`. A path has 10 hops at most. Loads are those of the first port, in 16 levels; the
// load of each side is shifted and increased, by the mode and the hops taken.
// Source: Chunduri et al., IPDPS 2021, section II-D; Alverson et al., "Cray XC Series Network", 2012; US
// patent 9,137,143 (progressive decisions); 10 hops: the model of Cray XC in CODES (Argonne). The reasons:
// docs/reports/2026-11-25-aries-modes.md. Deviation: neighbors report no loads (the mapping of such reports
// is not public). Whether Aries' tables name every gateway to a group or the nearest alone is not public
// either: `gateways`. A packet that is on its way to an intermediate group does not decide again before it
// has left its source group.
class Ad final : public DrawsPerDecision<Ad> {
 public:
  struct Settings {
    AdParams candidates;
    Biases minimal{};
    Biases nonminimal{};
  };

  Ad(const Settings& settings, TrackerRequest levels)
      : settings_{settings},
        levels_{std::move(levels)},
        lowest_{static_cast<std::uint32_t>(std::get<double>(levels_.parameters.at(kLevelOfEmptyPort)))} {}

  [[nodiscard]] DecisionScope scope() const noexcept override {
    if (settings_.candidates.decide == 1) {
      return settings_.candidates.in_group ? DecisionScope::kSourceAll : DecisionScope::kSource;
    }
    return settings_.candidates.in_group ? DecisionScope::kProgressive : DecisionScope::kMinimalPath;
  }
  [[nodiscard]] PathBudget budget() const noexcept override {
    return budget_of_paths(nonminimal_kinds(), scope());
  }
  [[nodiscard]] std::vector<NonMinimalKind> nonminimal_kinds() const override {
    std::vector<NonMinimalKind> kinds{NonMinimalKind::kLg};
    if (settings_.candidates.in_group) kinds.push_back(NonMinimalKind::kL);
    if (later_kind() == NonMinimalKind::kG) kinds.push_back(NonMinimalKind::kG);
    return kinds;
  }
  [[nodiscard]] bool any_gateway() const noexcept override {
    return settings_.candidates.gateways == kAnyGateway;
  }
  [[nodiscard]] std::vector<TrackerRequest> trackers() const override { return {levels_}; }

  [[nodiscard]] RandomStream stream_of(const DecisionContext& decision) const {
    return decision.minimal_choice_stream();
  }
  [[nodiscard]] RouteChoice route(const DecisionContext& decision, RandomStream& choices) const {
    const AdParams& candidates = settings_.candidates;
    const Packet& packet = decision.packet();
    const PathFollower& paths = decision.paths();
    const Stage stage = paths.source_stage(packet);

    // A start is named unless the packet has just begun the next part of a non-minimal path: its plan is
    // updated.
    RouteChoice stay;
    std::uint32_t load = 0;
    const bool names_start = packet.plan != Plan::kToIntermediate;
    const bool draws_gateway = any_gateway() && may_draw_gateway(decision);
    const auto weigh = [&](std::uint32_t choice, bool first) {
      const MinimalPath path =
          draws_gateway ? path_by_gateway(decision, stage, choice) : shortest_path(decision, stage, choice);
      const std::uint32_t level = level_of(decision, path.hop.port);
      if (!first && level >= load) return;
      stay = {
          .minimal_choice = path.choice, .start = names_start ? path.hop : Hop{}, .gateway = path.gateway};
      load = level;
    };
    // No port is less loaded than an empty one: paths that cannot win are skipped. Draws belong to the
    // packet, so skipping them changes no others.
    const std::uint32_t possible = decision.topology().num_choices();
    std::uint32_t first_choice = 0;
    if (possible > 1 && candidates.minimal_candidates > 1) {
      first_choice = choices.below(possible);  // equal to PathFollower::choice_of, where paths are drawn
      weigh(first_choice, true);
      for (std::uint32_t i = 1; i < candidates.minimal_candidates && load > lowest_; ++i) {
        weigh(choices.below(possible), false);
      }
    } else {
      first_choice = paths.choice_of(packet);
      weigh(first_choice, true);
    }
    const std::size_t hops = std::min<std::size_t>(packet.hops, kHopClasses.size() - 1);
    const std::uint32_t straight = settings_.minimal[hops].of(load);
    const auto ties = static_cast<Ties>(static_cast<std::uint32_t>(candidates.ties));
    const std::uint32_t best_around = settings_.nonminimal[hops].of(lowest_);
    if (straight < best_around || (straight == best_around && ties == Ties::kMinimal)) return stay;

    const bool leaves = may_take(NonMinimalKind::kLg, packet, decision.group());
    if (!leaves && !may_go_around_inside(packet, decision.group())) return stay;
    NonMinimalKind kind = NonMinimalKind::kL;
    if (leaves) kind = packet.hops == 0 ? NonMinimalKind::kLg : later_kind();
    RandomStream draws = decision.nonminimal_stream(kind);
    RouteChoice leave;
    std::uint32_t nonminimal_load = 0;
    for (std::uint32_t i = 0; i < candidates.nonminimal_candidates; ++i) {
      const NonMinimalPath nonminimal =
          draw_nonminimal(decision, draws, kind, candidates.avoid_destination_group);
      if (!nonminimal.exists()) break;
      const Hop hop =
          paths.nonminimal_hop(packet, nonminimal, decision.router(), decision.group(), first_choice);
      const std::uint32_t level = level_of(decision, hop.port);
      if (leave.nonminimal.exists() && level >= nonminimal_load) continue;
      leave = {.nonminimal = nonminimal, .start = hop};
      nonminimal_load = level;
    }
    if (!leave.nonminimal.exists()) return stay;

    const std::uint32_t around = settings_.nonminimal[hops].of(nonminimal_load);
    if (straight != around) return straight < around ? stay : leave;
    switch (ties) {
      case Ties::kMinimal:
        break;
      case Ties::kNonminimal:
        return leave;
      case Ties::kRandom:
        return decision.learning_stream().uniform() < 0.5 ? stay : leave;
    }
    return stay;
  }

 private:
  // The kind of the non-minimal paths that later routers of the source group choose, if they decide.
  [[nodiscard]] NonMinimalKind later_kind() const noexcept {
    const bool own_links = settings_.candidates.decide == 0 && settings_.candidates.later_nonminimal == 0;
    return own_links ? NonMinimalKind::kG : NonMinimalKind::kLg;
  }
  [[nodiscard]] bool may_go_around_inside(const Packet& packet, std::uint32_t group) const noexcept {
    const bool arrives = packet.hops > 0 && packet.destination_group == group;
    return settings_.candidates.in_group && (!arrives || settings_.candidates.in_destination_group);
  }
  [[nodiscard]] static std::uint32_t level_of(const DecisionContext& decision, Port port) {
    const std::uint32_t column = port - decision.topology().first_local_port();
    return static_cast<std::uint32_t>(decision.tracked(0, 0, column));
  }

  Settings settings_;
  TrackerRequest levels_;
  std::uint32_t lowest_;  // level that a port may have
};

std::string bias_name(const char* side, const char* what, std::size_t hops) {
  return std::string{side} + "_" + what + "_" + kHopClasses[hops];
}

std::vector<ParameterInfo> length_bias_parameters() {
  constexpr std::array<const char*, 3> when{"at the source router", "after one hop",
                                            "after two hops or more"};
  std::vector<ParameterInfo> rows;
  for (const char* side : {"minimal", "nonminimal"}) {
    const std::string of = side == std::string{"minimal"} ? "minimal paths" : "non-minimal paths";
    for (std::size_t hops = 0; hops < kHopClasses.size(); ++hops) {
      rows.push_back({bias_name(side, "shift", hops), 0.0, "bits",
                      std::string{"bits by which the load of "} + of + " is shifted left " + when[hops],
                      whole(0, kMostShift)});
      rows.push_back({bias_name(side, "add", hops), 0.0, "levels",
                      std::string{"levels added to the shifted load of "} + of + " " + when[hops],
                      whole(0, kMostAdd)});
    }
  }
  return rows;
}

Biases read_biases(const PolicyInfo& info, const Parameters& given, const char* side) {
  Biases biases;
  for (std::size_t hops = 0; hops < biases.size(); ++hops) {
    biases[hops] = {count_parameter(info, given, bias_name(side, "shift", hops)),
                    count_parameter(info, given, bias_name(side, "add", hops))};
  }
  return biases;
}

std::unique_ptr<RoutingPolicy> make_ad(const PolicyInfo& info, const Parameters& given,
                                       const PolicyEnvironment& environment) {
  Ad::Settings settings{.candidates = {info, given, environment.avoid_destination_group}};
  const auto mode = std::ranges::find(kModes, info.name, &Mode::name);
  if (mode != kModes.end()) {
    settings.nonminimal = mode->nonminimal;
  } else {
    settings.minimal = read_biases(info, given, "minimal");
    settings.nonminimal = read_biases(info, given, "nonminimal");
  }
  return std::make_unique<Ad>(settings, request_tracker(kLoadLevels, info, given));
}

}  // namespace

std::vector<PolicyInfo> ad_policies() {
  constexpr const char* source = "Chunduri et al., IPDPS 2021, section II-D; Cray XC";
  std::vector<ParameterInfo> shared = rows_of<AdParams>();
  std::ranges::copy(find_tracker(kLoadLevels).parameters, std::back_inserter(shared));
  std::vector<ParameterInfo> all = length_bias_parameters();
  std::ranges::copy(shared, std::back_inserter(all));
  std::vector<PolicyInfo> policies{{"ad",
                                    "Aries: compares the load of the ports of minimal and non-minimal paths "
                                    "in 16 levels, with a bias per kind of path and number of hops",
                                    source,
                                    "progressive",
                                    "path",
                                    std::move(all),
                                    make_ad,
                                    NonMinimalKind::kLgl,
                                    {"load_level"}}};
  for (const Mode& mode : kModes) {
    policies.push_back({mode.name,
                        mode.summary,
                        source,
                        "progressive",
                        "path",
                        shared,
                        make_ad,
                        NonMinimalKind::kLgl,
                        {"load_level"}});
  }
  return policies;
}

}  // namespace dragonfly
