#include "traffic/operation_lines.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <unordered_map>
#include <utility>

#include "core/time.hpp"
#include "traffic/program.hpp"
#include "traffic/script.hpp"

namespace dragonfly {

namespace {

constexpr std::size_t kMostWords = 8;
constexpr std::size_t kMostDigits = 12;
constexpr std::int64_t kLongestComputeNs = 1'000'000'000'000;
constexpr std::int64_t kMostBytes = kMostMessageBytes;

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

// A number of a few digits and nothing else.
std::optional<std::int64_t> whole(std::string_view text) {
  if (text.empty() || text.size() > kMostDigits || !std::ranges::all_of(text, is_digit)) return std::nullopt;
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::optional<std::int64_t> at_most(std::optional<std::int64_t> value, std::int64_t high) {
  return value && *value <= high ? value : std::nullopt;
}

// A time in ns with at most three decimals, in ps.
std::optional<std::int64_t> time_ps(std::string_view text) {
  const std::size_t point = text.find('.');
  const auto ns = at_most(whole(text.substr(0, point)), kLongestComputeNs - 1);
  if (!ns) return std::nullopt;
  if (point == std::string_view::npos) return *ns * kPsPerNs;
  const std::string_view decimals = text.substr(point + 1);
  const auto rest = whole(decimals);
  if (!rest || decimals.size() > 3) return std::nullopt;
  constexpr std::array<std::int64_t, 4> kUnit{1000, 100, 10, 1};
  return *ns * kPsPerNs + *rest * kUnit[decimals.size()];
}

struct Partner {
  std::int64_t rank = 0;
  bool relative = false;
};

std::optional<Partner> partner_of(std::string_view text, std::int64_t ranks) {
  const bool relative = !text.empty() && (text[0] == '+' || text[0] == '-');
  const auto value = whole(relative ? text.substr(1) : text);
  if (!value || (!relative && *value >= ranks)) return std::nullopt;
  const std::int64_t ahead = *value % ranks;
  return Partner{.rank = relative && text[0] == '-' ? ranks - ahead : ahead, .relative = relative};
}

class Reader {
 public:
  Reader(std::uint32_t ranks, std::size_t most) : ranks_{ranks}, most_{most} {}

  void read(std::string_view line, std::uint32_t number) {
    if (done_.rows.size() > most_ || split(line)) return;
    if (!(num_words_ >= 2 && who() && operation())) {
      done_.other.emplace_back(number, std::string{line});
      return;
    }
    for (std::int64_t rank = low_; rank <= high_ && done_.rows.size() <= most_; ++rank) write(rank, number);
  }

  [[nodiscard]] OperationLines take() { return std::move(done_); }

 private:
  // True: there is nothing on the line. What has other characters than plain ones, or too many words, has
  // none.
  bool split(std::string_view line) {
    num_words_ = 0;
    const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
    const char* at = line.data();
    const char* const line_end = at + line.size();
    while (true) {
      at = std::find_if_not(at, line_end, is_space);
      if (at == line_end) return num_words_ == 0;
      if (*at == '#' && num_words_ == 0) return true;
      const char* end = at;
      for (; end != line_end && !is_space(*end); ++end) {
        if (*end <= ' ' || *end > '~' || *end == '#' || *end == '"') return give_up();
      }
      if (num_words_ == kMostWords) return give_up();
      words_[num_words_++] = {at, end};
      at = end;
    }
  }
  bool give_up() {
    num_words_ = 0;
    return false;
  }

  bool who() {
    const std::string_view word = words_[0];
    if (word == "*") {
      low_ = 0;
      high_ = ranks_ - 1;
      return true;
    }
    const std::size_t dash = word.find('-');
    const auto low = whole(word.substr(0, dash));
    const auto high = dash == std::string_view::npos ? low : whole(word.substr(dash + 1));
    if (!low || !high || *low > *high || *high >= ranks_) return false;
    low_ = *low;
    high_ = *high;
    return true;
  }

  // A field of the line; each may be asked for once.
  std::optional<std::string_view> take(std::string_view field) {
    for (std::size_t i = 2; i < num_words_; ++i) {
      const std::string_view word = words_[i];
      if (word.size() <= field.size() + 1 || word[field.size()] != '=' || !word.starts_with(field)) continue;
      words_[i] = {};
      ++taken_;
      return word.substr(field.size() + 1);
    }
    return std::nullopt;
  }

  bool operation() {
    taken_ = 2;
    row_ = {};
    relative_ = false;
    const std::string_view operation = words_[1];
    if (operation == "send") {
      const auto of = take("of");
      const auto kind = of ? Step::Kind::kSendAllToAll : Step::Kind::kSend;
      if (of.value_or("all-to-all") != "all-to-all" || !message("to", kind) || row_.amount < 0) return false;
    } else if (operation == "receive") {
      if (!message("from", Step::Kind::kReceive)) return false;
    } else if (operation == "compute") {
      const auto ps = time_ps(take("ns").value_or(""));
      if (!ps) return false;
      row_.kind = static_cast<std::int64_t>(Step::Kind::kCompute);
      row_.amount = *ps;
      row_.name = number_of("");
    } else if (operation == "wait") {
      const auto label = take("label");
      if (take("measured").value_or("true") != "true") return false;
      row_.kind = static_cast<std::int64_t>(label ? Step::Kind::kWait : Step::Kind::kWaitAll);
      row_.name = number_of(label.value_or(""));
      measured_ = number_of("wait");
    } else {
      return false;
    }
    return taken_ == num_words_;
  }

  bool message(std::string_view other, Step::Kind kind) {
    const auto partner = partner_of(take(other).value_or(""), ranks_);
    if (!partner) return false;
    const auto bytes = take("bytes");
    const auto amount = bytes ? at_most(whole(*bytes), kMostBytes) : ScriptText::kAnyBytes;
    if (!amount) return false;
    row_.kind = static_cast<std::int64_t>(kind);
    row_.partner = partner->rank;
    row_.amount = *amount;
    relative_ = partner->relative;
    row_.name = number_of(take("label").value_or(""));
    return true;
  }

  std::int64_t number_of(std::string_view name) {
    const auto [at, is_new] = numbers_.try_emplace(std::string{name}, done_.names.size());
    if (is_new) done_.names.emplace_back(name);
    return static_cast<std::int64_t>(at->second);
  }

  void write(std::int64_t rank, std::uint32_t line) {
    OperationLines::Row row = row_;
    row.rank = rank;
    row.line = line;
    if (relative_) row.partner = (row.partner + rank) % ranks_;
    const auto kind = static_cast<Step::Kind>(row.kind);
    const bool is_wait = kind == Step::Kind::kWait || kind == Step::Kind::kWaitAll;
    if (is_wait) mark(row, Step::Kind::kBegin);
    done_.rows.push_back(row);
    if (is_wait) mark(row, Step::Kind::kEnd);
  }
  void mark(OperationLines::Row row, Step::Kind kind) {
    row.kind = static_cast<std::int64_t>(kind);
    row.name = measured_;
    done_.rows.push_back(row);
  }

  std::int64_t ranks_;
  std::size_t most_;
  OperationLines done_;
  std::unordered_map<std::string, std::size_t> numbers_;
  std::array<std::string_view, kMostWords> words_;
  std::size_t num_words_ = 0;
  std::size_t taken_ = 0;
  std::int64_t low_ = 0;
  std::int64_t high_ = 0;
  OperationLines::Row row_{};
  bool relative_ = false;
  std::int64_t measured_ = 0;
};

}  // namespace

OperationLines read_operation_lines(std::string_view text, std::uint32_t ranks, std::uint32_t first_line,
                                    std::size_t most) {
  Reader reader{ranks, most};
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    reader.read(text.substr(0, end), first_line++);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return reader.take();
}

}  // namespace dragonfly
