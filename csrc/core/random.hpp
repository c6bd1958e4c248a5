// Counter-based random streams (Philox4x32-10).
//
// A draw depends only on (seed, purpose, entity, index): never on the order in which streams are
// asked, on threads or on batching.
// Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/archive.hpp"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace dragonfly {

// What a stream is for; streams of two purposes are independent.
enum class Purpose : std::uint32_t {
  kDestination = 1,  // entity = host, index = message
  kInjection = 2,    // entity = host, index = message or trial
  kPattern = 3,      // whatever a traffic pattern fixes once (a permutation, a hot spot)
  kRouting = 4,      // entity = source host, index = packet (several blocks per decision)
  kLearning = 5,     // exploration of learning policies
  kPlacement = 6,    // where the tasks of a job live; entity = job
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
    if (used_ == 4) {
      buffer_ = detail::philox4x32({block_++, entity_, index_low_, index_high_}, key0_, key1_);
      used_ = 0;
    }
    return buffer_[used_++];
  }

  constexpr std::uint64_t next_u64() noexcept {
    const std::uint64_t high = next_u32();
    return (high << 32) | next_u32();
  }

  // As made by the constructor, but with its first four numbers drawn: block 0 of the stream.
  constexpr RandomStream(std::uint64_t seed, Purpose purpose, std::uint32_t entity, std::uint64_t index,
                         const std::array<std::uint32_t, 4>& first) noexcept
      : RandomStream{seed, purpose, entity, index} {
    buffer_ = first;
    used_ = 0;
    ++block_;
  }

  // Uniform in {0, ..., bound-1}; bound > 0. The bias is below bound / 2^64.
  constexpr std::uint32_t below(std::uint32_t bound) noexcept {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint32_t>((static_cast<Wide>(next_u64()) * bound) >> 64);
  }

  // Uniform in [0, 1) with 53 random bits.
  constexpr double uniform() noexcept { return static_cast<double>(next_u64() >> 11) * 0x1.0p-53; }

  void archive(Archive& archive) {
    archive(key0_, key1_, entity_, index_low_, index_high_, block_, buffer_);
    archive.below(used_, 5, "a random stream has used more numbers than it has");
  }

 private:
  std::uint32_t key0_, key1_, entity_, index_low_, index_high_, block_;
  std::uint32_t used_ = 4;
  std::array<std::uint32_t, 4> buffer_{};
};

namespace detail {

// The first blocks of four streams whose indices follow each other, each as philox4x32() makes it.
inline void first_blocks_of_four(std::uint64_t seed, std::uint32_t entity, std::uint32_t index_low,
                                 std::uint32_t index_high, std::array<std::uint32_t, 4>* blocks) noexcept {
#ifdef __SSE2__
  const __m128i high_product_0 = _mm_set1_epi32(static_cast<int>(0xD2511F53U));
  const __m128i high_product_1 = _mm_set1_epi32(static_cast<int>(0xCD9E8D57U));
  const __m128i low_halves = _mm_set1_epi64x(0xffffffffLL);
  __m128i c0 = _mm_setzero_si128();
  __m128i c1 = _mm_set1_epi32(static_cast<int>(entity));
  __m128i c2 = _mm_add_epi32(_mm_set1_epi32(static_cast<int>(index_low)), _mm_setr_epi32(0, 1, 2, 3));
  __m128i c3 = _mm_set1_epi32(static_cast<int>(index_high));
  auto key0 = static_cast<std::uint32_t>(seed);
  auto key1 = static_cast<std::uint32_t>(seed >> 32);
  const auto multiply = [&](const __m128i& x, const __m128i& factor, __m128i& high, __m128i& low) {
    const __m128i even = _mm_mul_epu32(x, factor);
    const __m128i odd = _mm_mul_epu32(_mm_srli_epi64(x, 32), factor);
    high = _mm_or_si128(_mm_srli_epi64(even, 32), _mm_andnot_si128(low_halves, odd));
    low = _mm_or_si128(_mm_and_si128(low_halves, even), _mm_slli_epi64(odd, 32));
  };
  for (int round = 0; round < 10; ++round) {
    __m128i high0, low0, high1, low1;
    multiply(c0, high_product_0, high0, low0);
    multiply(c2, high_product_1, high1, low1);
    c0 = _mm_xor_si128(_mm_xor_si128(high1, c1), _mm_set1_epi32(static_cast<int>(key0)));
    c1 = low1;
    c2 = _mm_xor_si128(_mm_xor_si128(high0, c3), _mm_set1_epi32(static_cast<int>(key1)));
    c3 = low0;
    key0 += 0x9E3779B9U;
    key1 += 0xBB67AE85U;
  }
  alignas(16) std::uint32_t words[4][4];
  _mm_store_si128(reinterpret_cast<__m128i*>(words[0]), c0);
  _mm_store_si128(reinterpret_cast<__m128i*>(words[1]), c1);
  _mm_store_si128(reinterpret_cast<__m128i*>(words[2]), c2);
  _mm_store_si128(reinterpret_cast<__m128i*>(words[3]), c3);
  for (std::size_t i = 0; i < 4; ++i) {
    blocks[i] = {words[0][i], words[1][i], words[2][i], words[3][i]};
  }
#else
  for (std::uint32_t i = 0; i < 4; ++i) {
    blocks[i] = philox4x32({0, entity, index_low + i, index_high}, static_cast<std::uint32_t>(seed),
                           static_cast<std::uint32_t>(seed >> 32));
  }
#endif
}

}  // namespace detail

// The streams of indices `first` to first + kCount - 1, their first numbers drawn four streams at a time.
// Precondition: `first` and kCount are multiples of 4.
template <std::size_t kCount>
[[nodiscard]] inline std::array<RandomStream, kCount> begun_streams(std::uint64_t seed, Purpose purpose,
                                                                    std::uint32_t entity,
                                                                    std::uint64_t first) noexcept {
  static_assert(kCount % 4 == 0);
  std::array<std::array<std::uint32_t, 4>, kCount> blocks;
  const auto high = static_cast<std::uint32_t>(first >> 32) | (static_cast<std::uint32_t>(purpose) << 24);
  for (std::size_t i = 0; i < kCount; i += 4) {
    detail::first_blocks_of_four(seed, entity, static_cast<std::uint32_t>(first + i), high, &blocks[i]);
  }
  return [&]<std::size_t... i>(std::index_sequence<i...>) {
    return std::array{RandomStream{seed, purpose, entity, first + i, blocks[i]}...};
  }(std::make_index_sequence<kCount>{});
}

}  // namespace dragonfly
