#include "traffic/goal.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/error.hpp"

namespace dragonfly {

namespace {

constexpr std::uint64_t kBinary = 4223;  // the first eight bytes of a binary file

// Puts the ranks of a file on hosts. Each rank keeps streams and channels of its own.
class HostGraphs {
 public:
  struct Item {
    Node::Kind kind = Node::Kind::kCompute;
    std::uint64_t amount = 0;
    std::uint64_t peer = 0;
    std::uint64_t tag = 0;
    std::uint64_t cpu = 0;
  };

  HostGraphs(const std::string& path, std::uint64_t num_ranks, const GoalOptions& options, bool has_lines)
      : path_{path}, options_{options}, num_ranks_{num_ranks}, builder_{path, num_hosts(), ""} {
    if (has_lines) builder_.name_lines();
  }

  [[noreturn]] void refuse(std::uint64_t line, const std::string& what, const std::string& allowed) const {
    throw ConfigError{path_ + (line > 0 ? ", line " + std::to_string(line) : ""), what, allowed};
  }

  void begin_rank(std::uint64_t rank, std::uint64_t line) {
    require_rank(rank, line);
    if (rank < next_rank_) refuse(line, "rank " + std::to_string(rank), "must come in ascending order");
    if (const std::uint64_t host = rank / options_.ranks_per_host; host != host_) {
      end_host();
      host_ = host;
      builder_.begin_rank(static_cast<std::uint32_t>(host));
      count_ = 0;
    }
    rank_ = rank;
    next_rank_ = rank + 1;
    spans_.clear();
  }

  // Returns the number of the operation in its rank.
  std::uint32_t add(const Item& item, std::uint64_t line) {
    if (item.kind == Node::Kind::kCompute) {
      const TimePs time = std::llround(static_cast<double>(item.amount) * options_.calc_ps);
      const std::uint32_t calc = compute(time, item.cpu, line);
      spans_.push_back({calc, calc});
    } else {
      require_rank(item.peer, line);
      if (item.tag > 0xffff'ffffU) refuse(line, "tag " + std::to_string(item.tag), "must be less than 2^32");
      spans_.push_back(item.peer / options_.ranks_per_host == host_ && options_.ranks_per_host > 1
                           ? add_local(item, line)
                           : add_message(item, line));
    }
    return count() - 1;
  }
  // Both are numbers of operations in the rank.
  void comes_after(std::uint32_t operation, std::uint32_t other, bool on_start) {
    builder_.comes_after(spans_[operation].starts, on_start ? spans_[other].starts : spans_[other].ends,
                         on_start);
  }
  [[nodiscard]] std::uint32_t count() const noexcept { return static_cast<std::uint32_t>(spans_.size()); }

  [[nodiscard]] Graph build() && {
    end_host();
    return std::move(builder_).build();
  }

 private:
  struct Message {
    std::array<std::uint64_t, 3> channel{};  // sender, receiver, tag
    std::uint64_t line = 0;
    std::uint32_t operation = 0;
  };
  struct Span {  // the nodes of an operation: what it comes after, the first one does
    std::uint32_t starts = 0;
    std::uint32_t ends = 0;
  };

  [[nodiscard]] std::uint32_t num_hosts() const {
    if (num_ranks_ == 0 || num_ranks_ > std::uint64_t{Graph::kMostRanks} * options_.ranks_per_host) {
      refuse(0, "num_ranks " + std::to_string(num_ranks_), "must be 1 to 2^20 times ranks_per_host");
    }
    return static_cast<std::uint32_t>((num_ranks_ + options_.ranks_per_host - 1) / options_.ranks_per_host);
  }
  void require_rank(std::uint64_t rank, std::uint64_t line) const {
    if (rank < num_ranks_) return;
    refuse(line, "rank " + std::to_string(rank), "must be a rank, 0 to " + std::to_string(num_ranks_ - 1));
  }

  std::uint32_t put(const GraphBuilder::Operation& operation, std::uint64_t line) {
    builder_.add(operation, GraphBuilder::Order::kFree, static_cast<std::uint32_t>(line));
    return count_++;
  }
  std::uint32_t compute(TimePs time, std::uint64_t cpu, std::uint64_t line) {
    const auto stream = std::ranges::find(streams_, std::pair{rank_, cpu});
    const std::int64_t number = stream - streams_.begin();
    if (stream == streams_.end()) streams_.emplace_back(rank_, cpu);
    return put({.kind = static_cast<std::int64_t>(Node::Kind::kCompute), .amount = time, .stream = number},
               line);
  }

  [[nodiscard]] std::array<std::uint64_t, 3> channel_of(const Item& item) const {
    const bool sends = item.kind == Node::Kind::kSend;
    return {sends ? rank_ : item.peer, sends ? item.peer : rank_, item.tag};
  }
  Span add_local(const Item& item, std::uint64_t line) {
    const std::uint32_t node = put({.kind = static_cast<std::int64_t>(Node::Kind::kWaitAll)}, line);
    (item.kind == Node::Kind::kSend ? sends_ : receives_)
        .push_back({.channel = channel_of(item), .line = line, .operation = node});
    return {node, node};
  }

  // The message itself; with its overhead, and a request and its acknowledgement where it is a rendezvous.
  Span add_message(const Item& item, std::uint64_t line) {
    const bool sends = item.kind == Node::Kind::kSend;
    const auto message = [&](bool to_partner, std::int64_t bytes, const char* what) {
      return put({.kind = static_cast<std::int64_t>(to_partner ? Node::Kind::kSend : Node::Kind::kReceive),
                  .partner = static_cast<std::int64_t>(item.peer / options_.ranks_per_host),
                  .amount = to_partner ? bytes : Node::kAnyBytes,
                  .label = label_of(channel_of(item), what)},
                 line);
    };
    const std::uint32_t data =
        message(sends, std::llround(static_cast<double>(item.amount) * options_.bytes_scale), "");
    Span span{data, data};
    const bool is_rendezvous = item.amount > options_.rendezvous_bytes;
    if (is_rendezvous) {
      const std::uint32_t request = message(sends, 1, "rendezvous request of ");
      const std::uint32_t acknowledgement = message(!sends, 1, "rendezvous acknowledgement of ");
      builder_.comes_after(acknowledgement, request, false);
      if (sends) {
        builder_.comes_after(data, acknowledgement, false);
        span.starts = request;
      } else {
        builder_.comes_after(acknowledgement, data, true);
      }
    }
    if (options_.overhead_ps == 0) return span;
    const std::uint32_t overhead = compute(options_.overhead_ps, item.cpu, line);
    if (!sends) {
      builder_.comes_after(overhead, data, false);
      return {span.starts, overhead};
    }
    builder_.comes_after(span.starts, overhead, false);
    return {overhead, is_rendezvous ? data : overhead};
  }

  // A host has a channel for each pair of ranks and each tag; requests and acknowledgements have their own.
  std::uint32_t label_of(const std::array<std::uint64_t, 3>& channel, const std::string& what) {
    const bool is_shared = options_.ranks_per_host > 1;
    if (!is_shared && options_.rendezvous_bytes == GoalOptions::kEager) {
      return static_cast<std::uint32_t>(channel[2]);
    }
    std::string text = what + "tag " + std::to_string(channel[2]);
    if (is_shared) {
      text += ", local rank " + std::to_string(channel[0] % options_.ranks_per_host) + " to " +
              std::to_string(channel[1] % options_.ranks_per_host);
    }
    return builder_.number_of(text);
  }

  // A message between ranks of a host takes no time: the receive comes after the send.
  void end_host() {
    if (host_ == kNoHost) return;
    const auto order = [](const Message& message) { return std::tuple{message.channel, message.operation}; };
    std::ranges::sort(sends_, {}, order);
    std::ranges::sort(receives_, {}, order);
    for (std::size_t i = 0; i < std::max(sends_.size(), receives_.size()); ++i) {
      const bool pairs =
          i < sends_.size() && i < receives_.size() && sends_[i].channel == receives_[i].channel;
      if (pairs) {
        builder_.comes_after(receives_[i].operation, sends_[i].operation, false);
        continue;
      }
      const bool lacks_receive =
          i == receives_.size() || (i < sends_.size() && sends_[i].channel < receives_[i].channel);
      const Message& message = lacks_receive ? sends_[i] : receives_[i];
      refuse(message.line, "tag " + std::to_string(message.channel[2]),
             "must be " + std::string{lacks_receive ? "received" : "sent"} + " as often between the ranks " +
                 std::to_string(message.channel[0]) + " and " + std::to_string(message.channel[1]));
    }
    sends_.clear();
    receives_.clear();
    streams_.clear();
    builder_.end_rank();
  }

  static constexpr std::uint64_t kNoHost = ~std::uint64_t{0};

  const std::string path_;
  const GoalOptions options_;
  const std::uint64_t num_ranks_;
  GraphBuilder builder_;
  std::uint64_t host_ = kNoHost;
  std::uint64_t rank_ = 0;
  std::uint64_t next_rank_ = 0;
  std::uint32_t count_ = 0;                                       // nodes of the host
  std::vector<Span> spans_;                                       // [operation of the rank]
  std::vector<std::pair<std::uint64_t, std::uint64_t>> streams_;  // streams of the host: rank, cpu
  std::vector<Message> sends_;                                    // messages between ranks of the host
  std::vector<Message> receives_;
};

// The words of a text, line by line.
class GoalText {
 public:
  explicit GoalText(std::istream& file) : file_{file} {}

  // Reads the next line that has words.
  bool next_line() {
    while (std::getline(file_, text_)) {
      ++line_;
      split();
      if (!words_.empty()) return true;
    }
    return false;
  }
  [[nodiscard]] std::uint64_t line() const noexcept { return line_; }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  [[nodiscard]] std::span<const std::string_view> words() const noexcept { return words_; }

 private:
  void split() {
    words_.clear();
    const std::string_view text{text_};
    for (std::size_t at = 0; at < text.size();) {
      if (in_comment_) {
        const std::size_t end = text.find("*/", at);
        if (end == std::string_view::npos) return;
        in_comment_ = false;
        at = end + 2;
      } else if (text.substr(at, 2) == "/*") {
        in_comment_ = true;
        at += 2;
      } else if (text.substr(at, 2) == "//") {
        return;
      } else if (std::isspace(static_cast<unsigned char>(text[at])) != 0) {
        ++at;
      } else if (text[at] == ':' || text[at] == '{' || text[at] == '}') {
        words_.push_back(text.substr(at++, 1));
      } else {
        const std::size_t end = std::min(text.find_first_of(" \t\r:{}/", at + 1), text.size());
        words_.push_back(text.substr(at, end - at));
        at = end;
      }
    }
  }

  std::istream& file_;
  std::string text_;
  std::uint64_t line_ = 0;
  bool in_comment_ = false;
  std::vector<std::string_view> words_;
};

[[nodiscard]] bool read_number(std::string_view word, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc{} && end == word.data() + word.size();
}

class TextReader {
 public:
  TextReader(std::istream& file, const std::string& path, const GoalOptions& options)
      : path_{path}, text_{file}, hosts_{path, num_ranks(), options, true} {}

  [[nodiscard]] Graph read() && {
    while (text_.next_line()) {
      std::span<const std::string_view> words = text_.words();
      std::uint64_t rank = 0;
      if (words.size() != 3 || words[0] != "rank" || words[2] != "{" || !read_number(words[1], rank)) {
        refuse("must be 'rank r {'");
      }
      hosts_.begin_rank(rank, text_.line());
      read_rank();
    }
    return std::move(hosts_).build();
  }

 private:
  [[noreturn]] void refuse(const std::string& allowed) const {
    throw ConfigError{path_ + ", line " + std::to_string(text_.line()), "'" + text_.text() + "'", allowed};
  }

  [[nodiscard]] std::uint64_t num_ranks() {
    std::uint64_t ranks = 0;
    if (!text_.next_line() || text_.words().size() != 2 || text_.words()[0] != "num_ranks" ||
        !read_number(text_.words()[1], ranks)) {
      refuse("must be 'num_ranks n', the first line of GOAL");
    }
    return ranks;
  }

  void read_rank() {
    labels_.clear();
    for (;;) {
      if (!text_.next_line()) refuse("must be followed by '}', the end of the rank");
      const auto words = text_.words();
      if (words.size() == 1 && words[0] == "}") return;
      if (words.size() == 3 && (words[1] == "requires" || words[1] == "irequires")) {
        hosts_.comes_after(operation(words[0]), operation(words[2]), words[1] == "irequires");
      } else if (words.size() > 2 && words[1] == ":") {
        const std::uint32_t added = read_operation(words.subspan(2));
        if (!labels_.emplace(words[0], added).second)
          refuse("must have a label that no other operation of the rank has");
      } else {
        static_cast<void>(read_operation(words));
      }
    }
  }

  [[nodiscard]] std::uint32_t operation(std::string_view label) const {
    const auto place = labels_.find(std::string{label});
    if (place == labels_.end())
      refuse("must name operations of the rank: no line above has the label '" + std::string{label} + "'");
    return place->second;
  }

  std::uint32_t read_operation(std::span<const std::string_view> words) {
    constexpr auto kForms =
        "must be 'send <n>b to <rank> [tag t]', 'recv <n>b from <rank> [tag t]', 'calc <n>', or "
        "'<label> requires <label>'";
    HostGraphs::Item item;
    const bool sends = words[0] == "send";
    const bool is_message = sends || words[0] == "recv";
    if (words.size() < (is_message ? 4U : 2U) || (!is_message && words[0] != "calc")) refuse(kForms);
    std::string_view size = words[1];
    std::size_t next = 2;
    if (is_message) {
      item.kind = sends ? Node::Kind::kSend : Node::Kind::kReceive;
      if (size.ends_with('b')) size.remove_suffix(1);
      if (words[2] != (sends ? "to" : "from") || !read_number(words[3], item.peer)) refuse(kForms);
      next = 4;
    }
    if (!read_number(size, item.amount)) refuse(kForms);
    for (; next + 1 < words.size(); next += 2) {
      std::uint64_t nic = 0;
      std::uint64_t& value = words[next] == "tag" ? item.tag : words[next] == "cpu" ? item.cpu : nic;
      if (&value == &nic && words[next] != "nic")
        refuse("must have 'tag', 'cpu' or 'nic' in the place of '" + std::string{words[next]} + "'");
      if (!read_number(words[next + 1], value)) refuse(kForms);
    }
    if (next != words.size()) refuse(kForms);
    return hosts_.add(item, text_.line());
  }

  const std::string& path_;
  GoalText text_;
  HostGraphs hosts_;
  std::unordered_map<std::string, std::uint32_t> labels_;  // labels of the rank
};

// The binary form: a table of the ranks' places, then per rank operations of 39 bytes and a table of the
// operations that come after each one.
class BinaryReader {
 public:
  BinaryReader(std::istream& file, const std::string& path, const GoalOptions& options)
      : path_{path}, file_{file}, num_ranks_{header()}, hosts_{path, num_ranks_, options, false} {}

  [[nodiscard]] Graph read() && {
    for (std::uint32_t rank = 0; rank < num_ranks_; ++rank) {
      file_.seekg(static_cast<std::streamoff>(kTable + rank * 2 * sizeof(std::uint64_t)));
      const auto first = take<std::uint64_t>();
      const auto end = take<std::uint64_t>();
      if (end < first || end > size_) damaged();
      block_.resize(end - first);
      file_.seekg(static_cast<std::streamoff>(kBase + first));
      take(block_.data(), block_.size());
      hosts_.begin_rank(rank, 0);
      read_rank();
    }
    return std::move(hosts_).build();
  }

 private:
  static constexpr std::size_t kBase = 8;  // places count from here
  static constexpr std::size_t kTable = kBase + 6;
  static constexpr std::size_t kOperation = 39;

  [[noreturn]] void damaged() const {
    throw ConfigError{path_, "binary GOAL",
                      "must be whole and in the form of spcl/atlahs; convert its text with txt2bin"};
  }
  void take(char* into, std::size_t count) {
    if (!file_.read(into, static_cast<std::streamsize>(count))) damaged();
  }
  template <class T>
  [[nodiscard]] T take() {
    T value{};
    take(reinterpret_cast<char*>(&value), sizeof(T));
    return value;
  }
  template <class T>
  [[nodiscard]] T at(std::size_t place) const {
    if (place + sizeof(T) > block_.size()) damaged();
    T value{};
    std::memcpy(&value, block_.data() + place, sizeof(T));
    return value;
  }
  [[nodiscard]] std::uint32_t header() {
    file_.seekg(0, std::ios::end);
    size_ = static_cast<std::uint64_t>(file_.tellg());
    file_.seekg(kBase);
    const auto ranks = take<std::uint32_t>();
    if (kTable + std::uint64_t{ranks} * 16 > size_) damaged();
    return ranks;
  }

  void read_rank() {
    const std::size_t count = at<std::uint32_t>(0);
    const std::size_t first = 8 + at<std::uint32_t>(4) * sizeof(std::uint32_t);
    const std::size_t after = first + count * kOperation;
    std::size_t edges = 0;
    for (std::size_t place = first; place < after; place += kOperation) {
      HostGraphs::Item item;
      switch (at<std::uint8_t>(place + 4)) {
        case 1:
          item.kind = Node::Kind::kSend;
          break;
        case 2:
          item.kind = Node::Kind::kReceive;
          break;
        case 3:
          break;
        default:
          damaged();
      }
      item.peer = at<std::uint32_t>(place + 5);
      item.amount = at<std::uint64_t>(place + 9);
      item.tag = at<std::uint32_t>(place + 17);
      item.cpu = at<std::uint8_t>(place + 21);
      static_cast<void>(hosts_.add(item, 0));
      edges += at<std::uint32_t>(place + 23) + at<std::uint32_t>(place + 31);
    }
    if (after + edges * sizeof(std::uint32_t) != block_.size()) damaged();
    for (std::uint32_t operation = 0; operation < count; ++operation) {
      for (const std::size_t field : {23U, 31U}) {
        const std::size_t place = first + operation * kOperation + field;
        const std::size_t start = at<std::uint32_t>(place + 4);
        for (std::size_t i = 0; i < at<std::uint32_t>(place); ++i) {
          const auto other = at<std::uint32_t>(after + (start + i) * sizeof(std::uint32_t));
          if (other >= count) damaged();
          hosts_.comes_after(other, operation, field == 31);
        }
      }
    }
  }

  const std::string& path_;
  std::istream& file_;
  std::uint64_t size_ = 0;
  std::uint32_t num_ranks_;
  HostGraphs hosts_;
  std::vector<char> block_;  // block of a rank
};

}  // namespace

Graph read_goal(const std::string& path, const GoalOptions& options) {
  std::ifstream file{path, std::ios::binary};
  std::uint64_t magic = 0;
  file.read(reinterpret_cast<char*>(&magic), sizeof(magic));
  file.clear();
  file.seekg(0);
  if (magic == kBinary) return BinaryReader{file, path, options}.read();
  return TextReader{file, path, options}.read();
}

}  // namespace dragonfly
