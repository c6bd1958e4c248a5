#include "traffic/send_interval.hpp"

#include "core/error.hpp"
#include "traffic/program.hpp"
#include "traffic/registry.hpp"

namespace dragonfly {

namespace {

constexpr double kLowestLoad = 0.001;

}  // namespace

SendInterval read_send_interval(const ProgramContext& context, const PatternArguments& arguments,
                                const std::string& rule) {
  const std::string name = arguments.text("pacing", rule);
  const double load = arguments.number("injection_load", 1.0, kLowestLoad, 1.0);
  if (name == "bernoulli") return {SendInterval::Rule::kBernoulli, load, context.packet_flits};
  if (name == "spaced") return {SendInterval::Rule::kSpaced, load, context.packet_flits};
  if (name != "none") throw ConfigError{"pacing", "'" + name + "'", "must be bernoulli, spaced or none"};
  if (arguments.has("injection_load")) {
    throw ConfigError{"injection_load", to_text(load), "must be left out with pacing=none"};
  }
  return {};
}

PatternParameter interval_parameter(const std::string& rule) {
  return {"pacing", rule,
          "injection of a host's packets: bernoulli (a trial every flit time), spaced (trials from a packet "
          "time after the last packet on) or none (as fast as the injection link takes packets)"};
}

PatternParameter injection_load_parameter() {
  return {"injection_load", "1.0", "mean rate of a paced host that is never idle, as a fraction of its link"};
}

}  // namespace dragonfly
