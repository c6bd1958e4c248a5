#include "routing/vc_ladder.hpp"

#include <string>

#include "core/error.hpp"

namespace dragonfly {

VcScheme parse_vc_scheme(std::string_view name) {
  if (name == "stage") return VcScheme::kStage;
  if (name == "ladder") return VcScheme::kLadder;
  if (name == "hop") return VcScheme::kHop;
  if (name == "unsafe-single") return VcScheme::kUnsafeSingle;
  throw ConfigError{"network.vc_scheme", "'" + std::string{name} + "'", "one of 'stage', 'ladder', 'hop'"};
}

}  // namespace dragonfly
