// The tracker of the loads of a router's ports (trackers/load_levels.cpp), for its readers.
#pragma once

namespace dragonfly {

inline constexpr const char* kLoadLevels = "load-levels";
inline constexpr const char* kLevelOfEmptyPort = "level_empty";  // parameter: no port is below
inline constexpr double kHighestLoadLevel = 15;                  // four bits

}  // namespace dragonfly
