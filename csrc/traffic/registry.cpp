#include "traffic/registry.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <locale>
#include <sstream>
#include <utility>

#include "core/error.hpp"
#include "core/nearest.hpp"
#include "traffic/placement.hpp"

namespace dragonfly {

// Patterns, one line each: X(name) means `PatternInfo name_pattern()`, in name.cpp or in the file of its
// family.
#define DRAGONFLY_PATTERNS(X) \
  X(uniform)                  \
  X(adversarial)              \
  X(consecutive)              \
  X(permutation)              \
  X(hotspot)                  \
  X(tornado)                  \
  X(stencil3d)                \
  X(many_to_many)             \
  X(random_neighbors)         \
  X(lia_c1)                   \
  X(lia_c2)                   \
  X(weighted_mixture)         \
  X(host_mixture)             \
  X(demand)                   \
  X(all_to_all)               \
  X(graph500)                 \
  X(halo3d)

#define DRAGONFLY_DECLARE(name) PatternInfo name##_pattern();
DRAGONFLY_PATTERNS(DRAGONFLY_DECLARE)
#undef DRAGONFLY_DECLARE

namespace {

constexpr std::string_view kField = "traffic";
constexpr std::size_t kLongestSpec = 100'000;

std::string trimmed_lower(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  std::string result{text};
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

bool parse_integer(std::string_view text, std::int64_t& value) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

bool parse_real(const std::string& text, double& value) {
  std::istringstream in{text};
  in.imbue(std::locale::classic());
  return static_cast<bool>(in >> value) && in.peek() == std::istringstream::traits_type::eof();
}

const PatternInfo* find_info(std::string_view name) {
  for (const PatternInfo& info : pattern_registry()) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

[[noreturn]] void unknown_pattern(std::string_view text) {
  std::vector<std::string> names;
  for (const PatternInfo& info : pattern_registry()) {
    names.push_back(info.suffix_parameter.empty() ? info.name : info.example);
  }
  throw ConfigError(std::string{kField}, "'" + std::string{text.substr(0, 100)} + "'",
                    "unknown pattern; " + suggestion(text, names));
}

// Splits "adv+4" into the pattern and its argument; plain names pass.
const PatternInfo* parse_head(const std::string& head, PatternArguments& arguments) {
  if (const PatternInfo* info = find_info(head)) return info;
  const std::size_t sign = head.find_last_of("+-");
  if (sign != std::string::npos && sign > 0) {
    const PatternInfo* info = find_info(head.substr(0, sign));
    std::int64_t value = 0;
    if (info != nullptr && !info->suffix_parameter.empty()) {
      if (!parse_integer(head.substr(sign), value)) {
        throw ConfigError(std::string{kField}, "'" + head + "'",
                          "an integer must follow '" + info->name + "', as in '" + info->example + "'");
      }
      arguments.set(info->suffix_parameter, value);
      return info;
    }
  }
  unknown_pattern(head);
}

ArgumentValue parse_value(const std::string& text) {
  if (text == "true" || text == "false") return text == "true";
  std::int64_t whole = 0;
  if (parse_integer(text, whole)) return whole;
  double real = 0;
  if (parse_real(text, real)) return real;
  if (text.find(';') != std::string::npos) {
    Integers list;
    std::istringstream in{text};
    for (std::string item; std::getline(in, item, ';');) {
      if (item.empty()) continue;
      if (!parse_integer(trimmed_lower(item), whole)) return text;
      list.push_back(whole);
    }
    return list;
  }
  return text;
}

void check_names(const PatternInfo& info, const PatternArguments& arguments) {
  std::vector<std::string> known;
  for (const PatternParameter& parameter : info.parameters) known.push_back(parameter.name);
  for (const auto& item : arguments.items()) {
    if (std::find(known.begin(), known.end(), item.first) == known.end()) {
      throw ConfigError(std::string{kField}, "'" + info.name + "'",
                        "has no argument '" + item.first + "'; " +
                            (known.empty() ? "it has none" : suggestion(item.first, known)));
    }
  }
}

// The pattern's name and all its arguments: those in the name, then those next to it.
const PatternInfo& resolve(const PatternSpec& spec, PatternSpec& parsed) {
  parsed = parse_pattern_spec(spec.name);
  for (const auto& [name, value] : spec.arguments.items()) parsed.arguments.set(name, value);
  const PatternInfo& info = *find_info(parsed.name);
  check_names(info, parsed.arguments);
  return info;
}

PatternPtr build(const Dragonfly& topology, std::shared_ptr<const Area> area, std::uint64_t seed,
                 std::uint32_t* num_parts, bool uniform_excludes_sender, const PatternSpec& spec) {
  PatternSpec parsed;
  const PatternInfo& info = resolve(spec, parsed);
  if (info.closed_loop()) {
    throw ConfigError(std::string{kField}, "'" + info.name + "'",
                      "is closed loop: it is alone, in no mixture and no schedule");
  }
  const std::uint32_t part = (*num_parts)++;
  return info.factory({topology, std::move(area), seed, num_parts, part, uniform_excludes_sender},
                      parsed.arguments);
}

// A pattern by which the hosts of dead routers send nothing.
class OfLiveHosts final : public TrafficPattern {
 public:
  OfLiveHosts(const Dragonfly& topology, PatternPtr pattern) : pattern_{std::move(pattern)} {
    for (std::uint32_t host = 0; host < topology.num_hosts(); ++host) {
      is_alive_.push_back(topology.host_is_alive(host));
    }
  }
  HostId destination(HostId source, std::uint64_t message, RandomStream& random) const override {
    return pattern_->destination(source, message, random);
  }
  void destinations(HostId source, std::uint64_t first, std::span<RandomStream> random,
                    std::span<std::uint32_t> into) const override {
    pattern_->destinations(source, first, random, into);
  }
  [[nodiscard]] std::uint32_t round_messages(HostId source) const override {
    return is_alive_[source.value] ? pattern_->round_messages(source) : 1;
  }
  [[nodiscard]] double share(HostId source) const override {
    return is_alive_[source.value] ? pattern_->share(source) : 0.0;
  }
  void add_received(std::span<const double> sent, std::span<double> received) const override {
    pattern_->add_received(sent, received);
  }

 private:
  PatternPtr pattern_;
  std::vector<bool> is_alive_;  // [host]
};

std::vector<PatternInfo> all_patterns() {
#define DRAGONFLY_ENTRY(name) name##_pattern(),
  std::vector<PatternInfo> all = {DRAGONFLY_PATTERNS(DRAGONFLY_ENTRY)};
#undef DRAGONFLY_ENTRY
  for (PatternInfo& info : all) {
    if (!info.closed_loop()) continue;
    info.parameters.push_back({"placement", "consecutive",
                               "host of each task: consecutive, random, random-routers or random-groups"});
  }
  return all;
}

}  // namespace

const std::vector<PatternInfo>& pattern_registry() {
  static const std::vector<PatternInfo> registry = all_patterns();
  return registry;
}

PatternSpec parse_pattern_spec(std::string_view text) {
  if (text.size() > kLongestSpec) {
    throw ConfigError(std::string{kField}, "'" + std::string{text.substr(0, 50)} + "...'", "is too long");
  }
  const std::string whole = trimmed_lower(text);
  const std::size_t colon = whole.find(':');
  PatternSpec spec;
  const PatternInfo* info = parse_head(trimmed_lower(whole.substr(0, colon)), spec.arguments);
  spec.name = info->name;
  if (colon == std::string::npos) return spec;
  std::vector<PatternPart> weighted;
  std::istringstream in{whole.substr(colon + 1)};
  for (std::string item; std::getline(in, item, ',');) {
    const std::size_t equals = item.rfind('=');
    const std::string key = trimmed_lower(item.substr(0, equals));
    if (equals == std::string::npos || key.empty() || key.find(':') != std::string::npos) {
      throw ConfigError(std::string{kField}, "'" + whole + "'",
                        "arguments are written name=value, separated by commas; got '" + item + "'");
    }
    const std::string value = trimmed_lower(item.substr(equals + 1));
    if (spec.name == "weighted") {  // its arguments are patterns: weighted:uniform=0.7,adv+1=0.3
      PatternPart part{.spec = parse_pattern_spec(key), .hosts = {}, .weight = 0};
      if (!parse_real(value, part.weight)) {
        throw ConfigError("weighted." + key, "'" + value + "'", "the weight must be a number");
      }
      weighted.push_back(std::move(part));
    } else {
      spec.arguments.set(key, parse_value(value));
    }
  }
  if (!weighted.empty()) spec.arguments.set("parts", std::move(weighted));
  check_names(*info, spec.arguments);
  return spec;
}

PatternPtr make_pattern(const Dragonfly& topology, std::uint64_t seed, const PatternSpec& spec,
                        bool uniform_excludes_sender) {
  std::uint32_t num_parts = 0;
  PatternPtr pattern = build(topology, std::make_shared<const Area>(topology), seed, &num_parts,
                             uniform_excludes_sender, spec);
  if (topology.num_dead_routers() == 0) return pattern;
  return std::make_shared<OfLiveHosts>(topology, std::move(pattern));
}

std::shared_ptr<const Workload> make_workload(const Dragonfly& topology, std::uint64_t seed,
                                              const PatternSpec& spec, std::uint32_t packet_bytes,
                                              std::uint32_t packet_flits) {
  PatternSpec parsed;
  const PatternInfo& info = resolve(spec, parsed);
  if (!info.closed_loop()) {
    throw ConfigError(std::string{kField}, "'" + info.name + "'", "must be a closed-loop pattern");
  }
  constexpr std::uint32_t kJob = 0;
  std::vector<std::uint32_t> hosts =
      place_tasks(topology, parsed.arguments.text("placement", "consecutive"), seed, kJob);
  const auto tasks = static_cast<std::uint32_t>(hosts.size());
  Job job{.program = info.program({tasks, packet_bytes, packet_flits}, parsed.arguments),
          .hosts = std::move(hosts)};
  std::vector<Job> jobs;
  jobs.push_back(std::move(job));
  return std::make_shared<const Workload>(topology.num_hosts(), std::move(jobs));
}

ProgramPtr make_program(const std::string& spec, std::uint32_t num_tasks, std::uint32_t packet_bytes,
                        std::uint32_t packet_flits) {
  PatternSpec parsed;
  const PatternInfo& info = resolve({.name = spec, .arguments = {}}, parsed);
  if (!info.closed_loop()) {
    throw ConfigError(std::string{kField}, "'" + info.name + "'", "must be a closed-loop pattern");
  }
  return info.program({num_tasks, packet_bytes, packet_flits}, parsed.arguments);
}

PatternPtr make_part(const PatternContext& parent, std::shared_ptr<const Area> area,
                     const PatternSpec& spec) {
  return build(parent.topology, std::move(area), parent.seed, parent.num_parts,
               parent.uniform_excludes_sender, spec);
}

}  // namespace dragonfly
