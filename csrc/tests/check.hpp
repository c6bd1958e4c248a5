// The whole test framework: named cases, checks that print both values, one summary line.
//
//   TEST(every_link_is_its_own_reverse) { CHECK_EQ(a, b); CHECK_THROWS(ConfigError, make(0)); }
//
// `core_tests [text]` runs the cases whose name contains the text. A failed check is reported and the case
// goes on; REQUIRE ends the case. Exit code 1 when a case failed.
#pragma once

#include <concepts>
#include <cstdio>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace check {

struct Case {
  std::string_view name;  // a literal
  void (*body)();
};

struct Abandon {};  // thrown by REQUIRE

inline std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}

inline int& failed_checks() {
  static int count = 0;
  return count;
}

inline bool add(const char* name, void (*body)()) {
  cases().push_back({name, body});
  return true;
}

inline bool report(bool ok, const char* file, int line, const std::string& what) {
  if (!ok) {
    ++failed_checks();
    std::printf("%s:%d: failed: %s\n", file, line, what.c_str());
  }
  return ok;
}

template <class T>
std::string show(const T& value) {
  if constexpr (requires(std::ostringstream& out) { out << value; }) {
    std::ostringstream out;
    out.precision(17);
    if constexpr (std::integral<T> && sizeof(T) == 1) return std::to_string(value);  // a number, not a letter
    out << value;
    return out.str();
  } else {
    return "?";
  }
}

template <class T>
concept Number = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char>;

// Compares like ==, but -1 never equals 4294967295u.
template <class A, class B>
bool equal(const A& a, const B& b) {
  if constexpr (Number<A> && Number<B>) {
    return std::cmp_equal(a, b);
  } else {
    return a == b;
  }
}

}  // namespace check

#define TEST(name)                                                                   \
  static void test_##name();                                                         \
  [[maybe_unused]] static const bool added_##name = check::add(#name, &test_##name); \
  static void test_##name()
#define CHECK(condition) check::report(static_cast<bool>(condition), __FILE__, __LINE__, #condition)
#define REQUIRE(condition)                         \
  do {                                             \
    if (!CHECK(condition)) throw check::Abandon{}; \
  } while (false)
#define CHECK_EQ(left, right)                                                                              \
  [&](const auto& l, const auto& r) {                                                                      \
    check::report(check::equal(l, r), __FILE__, __LINE__,                                                  \
                  std::string{#left " == " #right ", with "} + check::show(l) + " and " + check::show(r)); \
  }(left, right)
#define CHECK_THROWS(type, ...)                                              \
  [&] {                                                                      \
    try {                                                                    \
      static_cast<void>(__VA_ARGS__);                                        \
    } catch (const type&) {                                                  \
      return;                                                                \
    }                                                                        \
    check::report(false, __FILE__, __LINE__, #__VA_ARGS__ " throws " #type); \
  }()
