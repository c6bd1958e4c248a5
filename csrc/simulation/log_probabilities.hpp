// Log-probabilities of the decisions of one network, from when they are made until their transitions are
// taken.
//
// A transition may be completed long after its decision, when the policy has learned and is another one. Its
// log-probability is that of the time of the decision, so it is stored then.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/archive.hpp"

namespace dragonfly {

class LogProbabilities {
 public:
  void add(std::int64_t decision_id, float log_probability) {
    open_.push_back({decision_id, log_probability});
  }
  // Writes those of these decisions and forgets them; not a number where there is none. Precondition: ids
  // ascend.
  void take(std::span<const std::int64_t> decision_ids, float* into) {
    std::ranges::sort(open_, {}, &Entry::id);
    auto from = open_.cbegin();
    auto kept = open_.begin();
    for (const std::int64_t id : decision_ids) {
      while (from != open_.cend() && from->id < id) *kept++ = *from++;
      const bool known = from != open_.cend() && from->id == id;
      *into++ = known ? (from++)->log_probability : std::numeric_limits<float>::quiet_NaN();
    }
    open_.erase(kept, from);
  }
  void archive(Archive& archive) { archive(open_); }

 private:
  struct Entry {
    std::int64_t id = 0;
    float log_probability = 0;
    std::uint32_t unused = 0;
    static constexpr bool kArchivedWhole = true;
  };

  std::vector<Entry> open_;
};

}  // namespace dragonfly
