// Counter-based random streams (Philox4x32-10).
//
// A draw depends only on (seed, purpose, entity, index): never on the order in which streams are read, on
// threads or on batching.
// Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "core/archive.hpp"

namespace dragonfly {

// The purpose of a stream; streams of two purposes are independent.
enum class Purpose : std::uint32_t {
  kDestination = 1,  // entity = host, index = message
  kInjection = 2,    // entity = host, index = message or trial
  kPattern = 3,      // draws that a traffic pattern makes once (a permutation, a hot spot)
  kRouting = 4,      // entity = source host, index = packet (several blocks per decision)
  kLearning = 5,     // exploration of learning policies
  kPlacement = 6,    // hosts of the tasks of a job; entity = job
  kCompute = 7,      // jitter of computing times; entity = rank, index = computation, sub-stream = job
};

namespace detail {

constexpr std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter, std::uint32_t key0,
                                                  std::uint32_t key1) noexcept {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xD2511F53U} * counter[0];
    const std::uint64_t product1 = std::uint64_t{0xCD9E8D57U} * counter[2];
    counter = {
        static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key0, static_cast<std::uint32_t>(product1),
        static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key1, static_cast<std::uint32_t>(product0)};
    key0 += 0x9E3779B9U;
    key1 += 0xBB67AE85U;
  }
  return counter;
}

}  // namespace detail

// A short sequence of draws that belongs to one (seed, purpose, entity, index).
class RandomStream {
 public:
  constexpr RandomStream(std::uint64_t seed, Purpose purpose, std::uint32_t entity, std::uint64_t index,
                         std::uint32_t sub_stream = 0) noexcept
      : key0_{static_cast<std::uint32_t>(seed)},
        key1_{static_cast<std::uint32_t>(seed >> 32)},
        entity_{entity},
        // 40 bits of index, 8 bits of purpose, 16 bits of block and sub-stream.
        index_low_{static_cast<std::uint32_t>(index)},
        index_high_{static_cast<std::uint32_t>(index >> 32) | (static_cast<std::uint32_t>(purpose) << 24)},
        block_{sub_stream << 16} {}

  constexpr std::uint32_t next_u32() noexcept {
    if (used_ == 4) draw();
    return buffer_[used_++];
  }

  constexpr std::uint64_t next_u64() noexcept {
    const std::uint64_t high = next_u32();
    return (high << 32) | next_u32();
  }

  // Uniform in {0, ..., bound-1}; bound > 0. The bias is below bound / 2^64.
  constexpr std::uint32_t below(std::uint32_t bound) noexcept {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint32_t>((static_cast<Wide>(next_u64()) * bound) >> 64);
  }

  // Uniform in [0, 1) with 53 random bits.
  constexpr double uniform() noexcept { return static_cast<double>(next_u64() >> 11) * 0x1.0p-53; }

  // See begin_together(). Precondition: one to four.
  static void begin_four(std::span<RandomStream> streams) noexcept;

  void archive(Archive& archive) {
    archive(key0_, key1_, entity_, index_low_, index_high_, block_, buffer_, used_);
  }

 private:
  static void begin_by_pairs(std::span<RandomStream> streams) noexcept;
  static void begin_at_once(std::span<RandomStream> streams) noexcept;
  constexpr void draw() noexcept {
    buffer_ = detail::philox4x32({block_++, entity_, index_low_, index_high_}, key0_, key1_);
    used_ = 0;
  }

  std::uint32_t key0_, key1_, entity_, index_low_, index_high_, block_;
  std::uint32_t used_ = 4;
  std::array<std::uint32_t, 4> buffer_{};
};

// Draws the first numbers of streams, four streams at a time: each goes on as if it had drawn them by itself.
// Precondition: one seed, and none has drawn yet.
inline void begin_together(std::span<RandomStream> streams) noexcept {
  for (; streams.size() > 1; streams = streams.subspan(std::min<std::size_t>(4, streams.size()))) {
    RandomStream::begin_four(streams.first(std::min<std::size_t>(4, streams.size())));
  }
}

// The streams of indices `first` to first + kCount - 1, begun together.
template <std::size_t kCount>
[[nodiscard]] inline std::array<RandomStream, kCount> begun_streams(std::uint64_t seed, Purpose purpose,
                                                                    std::uint32_t entity,
                                                                    std::uint64_t first) noexcept {
  std::array streams = [&]<std::size_t... i>(std::index_sequence<i...>) {
    return std::array{RandomStream{seed, purpose, entity, first + i}...};
  }(std::make_index_sequence<kCount>{});
  begin_together(streams);
  return streams;
}

}  // namespace dragonfly
