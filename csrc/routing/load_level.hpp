// The tracker that tells how loaded a router's ports are (trackers/load_levels.cpp), for those who read it.
#pragma once

namespace dragonfly {

inline constexpr const char* kLoadLevels = "load-levels";
inline constexpr const char* kLevelOfEmptyPort = "level_empty";  // parameter: no port is below
inline constexpr double kHighestLoadLevel = 15;                  // four bits

}  // namespace dragonfly
