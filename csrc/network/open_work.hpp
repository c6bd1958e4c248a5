// The work on the hosts of one partition that is left to the jobs that end.
#pragma once

#include <cstdint>
#include <vector>

#include "core/archive.hpp"
#include "core/time.hpp"

namespace dragonfly {

struct OpenWork {
  std::uint32_t unfinished = 0;  // tasks that have not done everything
  std::uint32_t leaving = 0;     // messages in source queues here: programs are called when these have left
  // Messages to hosts here that are not complete: sent here, or announced by other partitions.
  std::int64_t expected = 0;
  // Messages sent by hosts here less those completed at hosts here; the sum over all partitions is the number
  // in flight.
  std::int64_t in_flight = 0;
  // The destinations of messages to other partitions that are not announced yet.
  std::vector<std::uint32_t> sent_elsewhere;
  Tick last_progress = 0;  // time of the last completed message here, or of the last finished task

  void archive(Archive& archive) {
    archive(unfinished, leaving, expected, in_flight, sent_elsewhere, last_progress);
  }
  // Nothing more happens here then for these jobs, unless another partition announces a message.
  [[nodiscard]] bool done() const noexcept { return unfinished + leaving == 0 && expected == 0; }
};

}  // namespace dragonfly
