// The families of policies that the registry makes rows of; one file each.
#pragma once

#include <memory>

#include "routing/policy.hpp"

namespace dragonfly {

[[nodiscard]] std::unique_ptr<RoutingPolicy> make_minimal(const PolicyInfo&, const Parameters&,
                                                          const PolicyEnvironment&);
[[nodiscard]] std::unique_ptr<RoutingPolicy> make_valiant(const PolicyInfo&, const Parameters&,
                                                          const PolicyEnvironment&);
[[nodiscard]] std::unique_ptr<RoutingPolicy> make_ugal(const PolicyInfo&, const Parameters&,
                                                       const PolicyEnvironment&);
[[nodiscard]] std::unique_ptr<RoutingPolicy> make_par(const PolicyInfo&, const Parameters&,
                                                      const PolicyEnvironment&);

}  // namespace dragonfly
