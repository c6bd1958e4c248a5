// The state of a run as bytes, written and read by the same functions.
//
// A class that has state lists it once, in `void archive(Archive& archive)`: the call copies each field into
// the archive or out of it. Integers are little endian and padding is never written, so equal states are
// equal bytes. Constants that follow from the configuration are not listed: the object is built anew before
// its state is read.
//
// Archives that are read are trusted: Python compares version and digest of a file beforehand.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/ids.hpp"
#include "core/large_pages.hpp"

namespace dragonfly {

static_assert(std::endian::native == std::endian::little, "archives are little endian");

// The number of the format: raise the number whenever archived fields, or their order, change.
inline constexpr std::uint32_t kArchiveFormat = 14;

// Memory that is not cleared.
class ArchiveBytes {
 public:
  ArchiveBytes() = default;
  explicit ArchiveBytes(std::size_t size) : data_{Memory{}.allocate(size), {size}} {}

  [[nodiscard]] std::span<std::byte> all() const noexcept { return {data_.get(), data_.get_deleter().size}; }

 private:
  using Memory = LargePages<std::byte>;
  struct Free {
    void operator()(std::byte* memory) const noexcept { Memory{}.deallocate(memory, size); }
    std::size_t size;
  };

  std::unique_ptr<std::byte[], Free> data_;
};

// Structs with `static constexpr bool kArchivedWhole = true` are copied as bytes: they have no padding and no
// pointers.
template <class T>
concept ArchivedWhole = requires { requires T::kArchivedWhole; };

class Archive {
 public:
  // Reads these bytes, which must outlive the archive.
  explicit Archive(std::span<const std::byte> from) : from_{from}, reads_{true} {}
  // The state of an owner. It is measured first: memory that grew would be touched and copied twice.
  template <class Owner>
  [[nodiscard]] static ArchiveBytes of(Owner& owner) {
    Archive measures;
    measures(owner);
    ArchiveBytes bytes{measures.at_};
    Archive writes;
    writes.into_ = bytes.all().data();
    writes(owner);
    return bytes;
  }

  [[nodiscard]] bool reads() const noexcept { return reads_; }

  template <class... Fields>
  void operator()(Fields&... fields) {
    (one(fields), ...);
  }

  // A list whose length follows from the configuration.
  template <class T, class Memory>
  void fixed(std::vector<T, Memory>& list) {
    items(list);
  }
  // Archives `count` items of a buffer that is not a vector.
  template <class T>
  void block(T* first, std::size_t count) {
    static_assert(kWhole<T>);
    bytes(first, count * sizeof(T));
  }
  // The length of a list that precedes its items.
  [[nodiscard]] std::size_t length(std::size_t present) {
    std::uint64_t size = present;
    raw(size);
    return static_cast<std::size_t>(size);
  }
  // Throws ConfigError if bytes are left over.
  void require_end() const { require(from_.size() == at_); }

 private:
  Archive() = default;

  template <class T>
  static constexpr bool kNumber = (std::is_integral_v<T> && !std::is_same_v<T, bool>) ||
                                  std::is_floating_point_v<T> || std::is_same_v<T, std::byte>;
  template <class T>
  static constexpr bool kWhole = kNumber<T> || ArchivedWhole<T>;

  template <class T>
  struct ListOf : std::false_type {};
  template <class T, class Memory>
  struct ListOf<std::vector<T, Memory>> : std::true_type {};
  template <class T>
  struct ArrayOf : std::false_type {};
  template <class T, std::size_t n>
  struct ArrayOf<std::array<T, n>> : std::true_type {};
  template <class T>
  struct IdOf : std::false_type {};
  template <class Tag>
  struct IdOf<Id<Tag>> : std::true_type {};

  static void require(bool holds) {
    if (holds) [[likely]]
      return;
    throw ConfigError{"snapshot", "damaged", "it must be what save() wrote"};
  }

  void bytes(void* memory, std::size_t size) {
    if (size == 0) return;
    if (reads_) {
      require(size <= from_.size() - at_);
      std::memcpy(memory, from_.data() + at_, size);
    } else if (into_ != nullptr) {
      std::memcpy(into_ + at_, memory, size);
    }
    at_ += size;
  }
  template <class T>
  void raw(T& value) {
    bytes(&value, sizeof(T));
  }

  template <class T>
  void one(T& field) {
    if constexpr (std::is_same_v<T, bool>) {
      auto byte = static_cast<std::uint8_t>(field);
      raw(byte);
      field = byte != 0;
    } else if constexpr (kWhole<T>) {
      static_assert(std::is_trivially_copyable_v<T>);
      raw(field);
    } else if constexpr (std::is_enum_v<T>) {
      auto value = static_cast<std::underlying_type_t<T>>(field);
      raw(value);
      field = static_cast<T>(value);
    } else if constexpr (IdOf<T>::value) {
      raw(field.value);
    } else if constexpr (ArrayOf<T>::value) {
      for (auto& item : field) one(item);
    } else if constexpr (ListOf<T>::value) {
      list(field);
    } else if constexpr (std::is_same_v<T, std::string>) {
      field.resize(length(field.size()));
      bytes(field.data(), field.size());
    } else if constexpr (requires { field.archive(*this); }) {
      field.archive(*this);
    } else {
      archive_fields(*this, field);  // found by the type's namespace
    }
  }
  template <class T, class Memory>
  void list(std::vector<T, Memory>& field) {
    const std::size_t size = length(field.size());
    if (reads_) {
      field.clear();  // no old item need be moved
      field.resize(size);
    }
    items(field);
  }
  template <class T, class Memory>
  void items(std::vector<T, Memory>& field) {
    if constexpr (kWhole<T>) {
      bytes(field.data(), field.size() * sizeof(T));
    } else {
      for (T& item : field) one(item);
    }
  }

  std::byte* into_ = nullptr;  // buffer that is written; null while the size is measured
  std::span<const std::byte> from_;
  std::size_t at_ = 0;
  bool reads_ = false;
};

}  // namespace dragonfly
