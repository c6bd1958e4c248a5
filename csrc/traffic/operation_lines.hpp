// Lines of a program's text that say one plain operation: sends, receives, waits and computations, as traces
// from elsewhere have them by the million.
//
// Python (dragonfly_env/jobs/lines.py) knows what may be written, and what is wrong with a line. Here only
// what is certainly right is read, so that it takes a tenth of a microsecond instead of six: every other line
// is handed back as it is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dragonfly {

struct OperationLines {
  // As the columns of Recorder (dragonfly_env/jobs/records.py).
  struct Row {
    std::int64_t rank;
    std::int64_t kind;  // Step::Kind
    std::int64_t partner;
    std::int64_t amount;  // bytes, ps
    std::int64_t name;    // of `names`
    std::int64_t line;
  };

  std::vector<Row> rows;
  std::vector<std::string> names;                            // labels, and what waits count as
  std::vector<std::pair<std::uint32_t, std::string>> other;  // number and text of what was not read here
};

// The lines of a text, which is for so many ranks; its first line has this number. Ends early once there are
// more than `most` operations.
[[nodiscard]] OperationLines read_operation_lines(std::string_view text, std::uint32_t ranks,
                                                  std::uint32_t first_line, std::size_t most);

}  // namespace dragonfly
