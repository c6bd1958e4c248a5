// Choice of an action by scores.
#pragma once

#include <cstdint>
#include <limits>

#include "core/random.hpp"
#include "routing/neural/arithmetic.hpp"

namespace dragonfly::neural {

// Scores are finite from here on: NaN is the worst score.
[[nodiscard]] inline float tamed(float score) noexcept {
  constexpr float kMost = std::numeric_limits<float>::max();
  return score > -kMost ? (score < kMost ? score : kMost) : -kMost;
}

// The legal action with the highest score, the lowest of equals. Precondition: one is legal.
[[nodiscard]] inline std::uint32_t best_legal(const float* scores, const std::uint8_t* mask,
                                              std::uint32_t count) noexcept {
  std::uint32_t best = count;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (mask[i] != 0 && (best == count || scores[i] > scores[best])) best = i;
  }
  return best;
}

// A legal action, drawn with probabilities proportional to e^(score / temperature). `draw`: in [0, 1).
[[nodiscard]] inline std::uint32_t drawn_legal(const float* scores, const std::uint8_t* mask,
                                               std::uint32_t count, float temperature, double draw) noexcept {
  const float most = scores[best_legal(scores, mask, count)];
  const auto weight = [&](std::uint32_t i) {
    return static_cast<double>(exp_of_negative((scores[i] - most) / temperature));
  };
  double sum = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (mask[i] != 0) sum += weight(i);
  }
  const double wanted = draw * sum;
  double passed = 0;
  std::uint32_t last = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (mask[i] == 0) continue;
    passed += weight(i);
    last = i;
    if (passed > wanted) break;
  }
  return last;
}

// The logarithm of the probability with which drawn_legal() takes `action`, which is legal.
[[nodiscard]] inline float log_probability(const float* scores, const std::uint8_t* mask, std::uint32_t count,
                                           float temperature, std::uint32_t action) noexcept {
  const float most = scores[best_legal(scores, mask, count)];
  double sum = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (mask[i] != 0) sum += static_cast<double>(exp_of_negative((scores[i] - most) / temperature));
  }
  const float below = (scores[action] - most) / temperature;
  return (below > kLeastExponent ? below : kLeastExponent) - log(static_cast<float>(sum));
}

}  // namespace dragonfly::neural
