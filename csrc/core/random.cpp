// Philox4x32-10 of four counters in vector registers: each word in the low half of a lane of 64 bits. The
// high half plays no part in products.
#include "core/random.hpp"

#ifdef __SSE2__
#include <immintrin.h>
#endif

namespace dragonfly {

#ifdef __SSE2__

namespace {

constexpr std::uint32_t kFactor0 = 0xD2511F53U;
constexpr std::uint32_t kFactor1 = 0xCD9E8D57U;
constexpr std::uint32_t kStep0 = 0x9E3779B9U;
constexpr std::uint32_t kStep1 = 0xBB67AE85U;

}  // namespace

// Two streams to a register.
void RandomStream::begin_by_pairs(std::span<RandomStream> streams) noexcept {
  const __m128i factor0 = _mm_set1_epi64x(kFactor0);
  const __m128i factor1 = _mm_set1_epi64x(kFactor1);
  for (; !streams.empty(); streams = streams.subspan(std::min<std::size_t>(2, streams.size()))) {
    RandomStream& a = streams.front();
    RandomStream& b = streams[streams.size() > 1 ? 1 : 0];
    __m128i c0 = _mm_set_epi64x(b.block_, a.block_);
    __m128i c1 = _mm_set_epi64x(b.entity_, a.entity_);
    __m128i c2 = _mm_set_epi64x(b.index_low_, a.index_low_);
    __m128i c3 = _mm_set_epi64x(b.index_high_, a.index_high_);
    std::uint32_t key0 = a.key0_;
    std::uint32_t key1 = a.key1_;
    for (int round = 0; round < 10; ++round) {
      const __m128i product0 = _mm_mul_epu32(factor0, c0);
      const __m128i product1 = _mm_mul_epu32(factor1, c2);
      c0 = _mm_xor_si128(_mm_xor_si128(_mm_srli_epi64(product1, 32), c1), _mm_set1_epi64x(key0));
      c1 = product1;
      c2 = _mm_xor_si128(_mm_xor_si128(_mm_srli_epi64(product0, 32), c3), _mm_set1_epi64x(key1));
      c3 = product0;
      key0 += kStep0;
      key1 += kStep1;
    }
    const __m128i of_a = _mm_unpacklo_epi64(_mm_unpacklo_epi32(c0, c1), _mm_unpacklo_epi32(c2, c3));
    const __m128i of_b = _mm_unpacklo_epi64(_mm_unpackhi_epi32(c0, c1), _mm_unpackhi_epi32(c2, c3));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(b.buffer_.data()), of_b);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(a.buffer_.data()), of_a);  // last: a may be b
  }
}

// All four in one register.
[[gnu::target("avx2")]] void RandomStream::begin_at_once(std::span<RandomStream> streams) noexcept {
  const std::size_t last = streams.size() - 1;
  RandomStream& a = streams[0];
  RandomStream& b = streams[std::min<std::size_t>(1, last)];
  RandomStream& c = streams[std::min<std::size_t>(2, last)];
  RandomStream& d = streams[std::min<std::size_t>(3, last)];
  const __m256i factor0 = _mm256_set1_epi64x(kFactor0);
  const __m256i factor1 = _mm256_set1_epi64x(kFactor1);
  __m256i c0 = _mm256_set_epi64x(d.block_, c.block_, b.block_, a.block_);
  __m256i c1 = _mm256_set_epi64x(d.entity_, c.entity_, b.entity_, a.entity_);
  __m256i c2 = _mm256_set_epi64x(d.index_low_, c.index_low_, b.index_low_, a.index_low_);
  __m256i c3 = _mm256_set_epi64x(d.index_high_, c.index_high_, b.index_high_, a.index_high_);
  __m256i key0 = _mm256_set1_epi32(static_cast<int>(a.key0_));
  __m256i key1 = _mm256_set1_epi32(static_cast<int>(a.key1_));
  for (int round = 0; round < 10; ++round) {
    const __m256i product0 = _mm256_mul_epu32(factor0, c0);
    const __m256i product1 = _mm256_mul_epu32(factor1, c2);
    c0 = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(product1, 32), c1), key0);
    c1 = product1;
    c2 = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(product0, 32), c3), key1);
    c3 = product0;
    key0 = _mm256_add_epi32(key0, _mm256_set1_epi32(static_cast<int>(kStep0)));
    key1 = _mm256_add_epi32(key1, _mm256_set1_epi32(static_cast<int>(kStep1)));
  }
  const __m256i a_and_c = _mm256_unpacklo_epi64(_mm256_unpacklo_epi32(c0, c1), _mm256_unpacklo_epi32(c2, c3));
  const __m256i b_and_d = _mm256_unpacklo_epi64(_mm256_unpackhi_epi32(c0, c1), _mm256_unpackhi_epi32(c2, c3));
  // d is stored first: if there are fewer than four streams, the later names are aliases of the last stream,
  // and the last store of a stream counts, in the order of the portable code.
  _mm_storeu_si128(reinterpret_cast<__m128i*>(d.buffer_.data()), _mm256_extracti128_si256(b_and_d, 1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(c.buffer_.data()), _mm256_extracti128_si256(a_and_c, 1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(b.buffer_.data()), _mm256_castsi256_si128(b_and_d));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(a.buffer_.data()), _mm256_castsi256_si128(a_and_c));
}

void RandomStream::begin_four(std::span<RandomStream> streams) noexcept {
  if (__builtin_cpu_supports("avx2")) {
    begin_at_once(streams);
  } else {
    begin_by_pairs(streams);
  }
  for (RandomStream& stream : streams) {
    stream.used_ = 0;
    ++stream.block_;
  }
}

#else

void RandomStream::begin_four(std::span<RandomStream> streams) noexcept {
  for (RandomStream& stream : streams) stream.draw();
}

#endif

}  // namespace dragonfly
