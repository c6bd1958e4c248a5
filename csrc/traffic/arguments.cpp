#include "traffic/arguments.hpp"

#include <algorithm>
#include <locale>
#include <sstream>

#include "core/error.hpp"

namespace dragonfly {
namespace {

std::string text_of(const ArgumentValue& value) {
  struct Text {
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(std::int64_t v) const { return std::to_string(v); }
    std::string operator()(double v) const { return to_text(v); }
    std::string operator()(const std::string& v) const { return "'" + v + "'"; }
    std::string operator()(const Integers& v) const {
      return "a list of " + std::to_string(v.size()) + " integers";
    }
    std::string operator()(const Matrix& v) const {
      return "a " + std::to_string(v.rows) + " x " + std::to_string(v.columns) + " matrix";
    }
    std::string operator()(const std::vector<PatternPart>& v) const {
      return "a list of " + std::to_string(v.size()) + " patterns";
    }
  };
  return std::visit(Text{}, value);
}

[[noreturn]] void wrong_kind(std::string_view name, const ArgumentValue& value, const std::string& wanted) {
  throw ConfigError(std::string{name}, text_of(value), "must be " + wanted);
}

[[noreturn]] void missing(std::string_view name, const std::string& wanted) {
  throw ConfigError(std::string{name}, "(missing)", "must be given: " + wanted);
}

}  // namespace

std::string to_text(double value) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out << value;
  return out.str();
}

void PatternArguments::set(std::string name, ArgumentValue value) {
  const auto same = [&](const auto& item) { return item.first == name; };
  const auto found = std::find_if(items_.begin(), items_.end(), same);
  if (found != items_.end()) {
    found->second = std::move(value);
  } else {
    items_.emplace_back(std::move(name), std::move(value));
  }
}

const ArgumentValue* PatternArguments::find(std::string_view name) const {
  for (const auto& [key, value] : items_) {
    if (key == name) return &value;
  }
  return nullptr;
}

bool PatternArguments::flag(std::string_view name, bool fallback) const {
  const ArgumentValue* value = find(name);
  if (value == nullptr) return fallback;
  if (const bool* v = std::get_if<bool>(value)) return *v;
  wrong_kind(name, *value, "true or false");
}

std::int64_t PatternArguments::integer(std::string_view name, std::int64_t fallback) const {
  const ArgumentValue* value = find(name);
  if (value == nullptr) return fallback;
  if (const auto* v = std::get_if<std::int64_t>(value)) return *v;
  wrong_kind(name, *value, "an integer");
}

std::int64_t PatternArguments::integer(std::string_view name, std::int64_t fallback, std::int64_t low,
                                       std::int64_t high) const {
  const std::int64_t result = integer(name, fallback);
  if (low <= result && result <= high) return result;
  throw ConfigError(std::string{name}, std::to_string(result),
                    "an integer from " + std::to_string(low) + " to " + std::to_string(high));
}

std::string PatternArguments::text(std::string_view name, const std::string& fallback) const {
  const ArgumentValue* value = find(name);
  if (value == nullptr) return fallback;
  if (const auto* v = std::get_if<std::string>(value)) return *v;
  wrong_kind(name, *value, "a name");
}

double PatternArguments::number(std::string_view name, double fallback, double low, double high,
                                bool low_open) const {
  const ArgumentValue* value = find(name);
  if (value == nullptr) return fallback;
  const std::string allowed =
      "a number in " + std::string{low_open ? "(" : "["} + to_text(low) + ", " + to_text(high) + "]";
  double result = 0;
  if (const auto* real = std::get_if<double>(value)) {
    result = *real;
  } else if (const auto* whole = std::get_if<std::int64_t>(value)) {
    result = static_cast<double>(*whole);
  } else {
    wrong_kind(name, *value, allowed);
  }
  const bool above = low_open ? result > low : result >= low;
  if (!(above && result <= high)) wrong_kind(name, *value, allowed);  // catches NaN too
  return result;
}

const Integers* PatternArguments::integers(std::string_view name) const {
  const ArgumentValue* value = find(name);
  if (value == nullptr) return nullptr;
  if (const auto* v = std::get_if<Integers>(value)) return v;
  wrong_kind(name, *value, "a list of integers");
}

const Matrix& PatternArguments::matrix(std::string_view name) const {
  const ArgumentValue* value = find(name);
  if (value == nullptr) missing(name, "a square matrix of numbers");
  if (const auto* v = std::get_if<Matrix>(value)) return *v;
  wrong_kind(name, *value, "a square matrix of numbers");
}

const std::vector<PatternPart>& PatternArguments::parts(std::string_view name) const {
  const ArgumentValue* value = find(name);
  if (value == nullptr) missing(name, "a list of patterns");
  const auto* v = std::get_if<std::vector<PatternPart>>(value);
  if (v == nullptr || v->empty()) wrong_kind(name, *value, "a list of at least one pattern");
  return *v;
}

std::vector<std::uint32_t> host_list(const std::string& field, const Integers& hosts,
                                     std::uint32_t num_hosts) {
  std::vector<std::uint32_t> result;
  result.reserve(hosts.size());
  for (const std::int64_t host : hosts) {
    if (host < 0 || host >= std::int64_t{num_hosts}) {
      throw ConfigError(field, std::to_string(host),
                        "host numbers go from 0 to " + std::to_string(num_hosts - 1));
    }
    result.push_back(static_cast<std::uint32_t>(host));
  }
  return result;
}

}  // namespace dragonfly
