// The unit of time inside.
#include "core/error.hpp"
#include "network/params.hpp"
#include "tests/check.hpp"
#include "tests/small_systems.hpp"

namespace {

using namespace dragonfly;

Timing timing_of(const NetworkParams& network, TimePs generated_ps = 0) {
  return make_timing(network, link_params(network, Dragonfly{kSmall}), generated_ps);
}

TEST(the_unit_is_the_common_divisor_of_all_delays) {
  NetworkParams network = usual_network();
  CHECK_EQ(timing_of(network).quantum_ps, 200);  // largest common divisor of 3.2 ns and 1 ns
  network.local_packet_ps = 32'050;
  CHECK_EQ(timing_of(network).quantum_ps, 50);
  CHECK_EQ(timing_of(network).horizon, horizon_of(network));
}

TEST(times_of_messages_refine_the_unit_where_the_horizon_allows) {
  NetworkParams network = usual_network();
  CHECK_EQ(timing_of(network, 1'000'250).quantum_ps, 50);
  CHECK_EQ(timing_of(network, 1'000'251).quantum_ps, 1);
  network.global_latency_ps = 10'000'000;  // 20 million ps there and back
  CHECK_EQ(timing_of(network, 1'000'251).quantum_ps, 200);
}

TEST(delays_beyond_the_horizon_are_refused) {
  NetworkParams network = usual_network();
  network.global_latency_ps = kLongestDelayPs;
  CHECK_EQ(timing_of(network).quantum_ps, 200);
  network.router_clock_ps = 3'001;
  CHECK_THROWS(ConfigError, timing_of(network));
}

}  // namespace
