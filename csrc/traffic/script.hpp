// Programs as lists of operations: each rank of a job executes its list, one operation after the other, again
// and again.
//
// A script is text that was read once (by Python, from a generator or a file) and is executed in the core
// (traffic/script_program.hpp). Per rank it is one flat list, however often it is repeated. Collectives are
// made of the same few steps; kBegin and kEnd around them name the operation that their time counts for.
//
// Receives and sends never block. A message goes over a *channel*, named by (receiver, sender, label): the
// k-th receive of a channel is for its k-th send. A wait ends when the bytes of all receives that it is for
// have come and the last packets of all sends that it is for have left the source queue. At the end of its
// list a rank waits for everything that is still open, so no request lives longer than one repetition.
// Simplification: the packets of a channel are counted, whichever of its messages they belong to.
//
// Sends never wait for a receiver, so whether a script comes to its end does not depend on time: if one
// repetition does, from empty channels to empty channels, so do all. The check is made at construction, and
// its message names operations that wait for messages without a sender.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/archive.hpp"
#include "core/time.hpp"

namespace dragonfly {

struct Step {
  enum class Kind : std::uint8_t {
    kSend,
    kSendAllToAll,  // the same as part of an all-to-all exchange, which may be routed by a policy of its own
    kReceive,
    kWait,     // for all sends and receives with a label
    kWaitAll,  // for all
    kCompute,
    kBegin,  // an operation of which the time is measured
    kEnd,
  };

  Kind kind = Kind::kWaitAll;
  std::uint32_t partner = 0;  // the other rank
  std::uint32_t label = 0;    // of sends, receives, waits: within the rank; kBegin, kEnd: the operation
  std::uint32_t channel = 0;  // within the receiver
  std::int64_t amount = 0;    // packets of a message; kCompute: ps
};

// A program as columns, the operations of rank 0 first.
struct ScriptText {
  static constexpr std::int64_t kAnyBytes = -1;  // of a receive

  std::string name;  // for messages
  std::uint32_t packet_bytes = 1;
  std::vector<std::uint64_t> first;  // [rank]: its first operation; one more: their number
  std::vector<std::uint8_t> kinds;
  std::vector<std::uint32_t> partners;
  std::vector<std::int64_t> amounts;  // bytes of a message, ps of a kCompute
  std::vector<std::uint32_t> labels;  // kBegin, kEnd: operations
  std::vector<std::string> label_names;
  std::vector<std::string> operation_names;
};

// Const after construction.
class Script {
 public:
  struct Channel {
    std::uint32_t from;
    std::uint32_t label;  // within the rank
  };

  static constexpr std::uint32_t kMostRanks = 1U << 20;

  // Throws ConfigError, naming the operation: for ranks and amounts out of range, sends without a receive,
  // receives without a send, ranks that wait in a circle.
  explicit Script(ScriptText text);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] std::uint32_t num_ranks() const noexcept {
    return static_cast<std::uint32_t>(first_step_.size() - 1);
  }
  [[nodiscard]] std::span<const Step> steps(std::uint32_t rank) const noexcept {
    return part(steps_, first_step_, rank);
  }
  // The channels on which a rank receives.
  [[nodiscard]] std::span<const Channel> channels(std::uint32_t rank) const noexcept {
    return part(channels_, first_channel_, rank);
  }
  [[nodiscard]] std::uint32_t num_labels(std::uint32_t rank) const noexcept {
    return static_cast<std::uint32_t>(first_label_[rank + 1] - first_label_[rank]);
  }
  [[nodiscard]] const std::string& label_name(std::uint32_t rank, std::uint32_t label) const {
    return label_names_[labels_[first_label_[rank] + label]];
  }
  [[nodiscard]] const std::vector<std::string>& operations() const noexcept { return operation_names_; }
  // Whether a rank has nothing to do that takes time.
  [[nodiscard]] bool is_idle(std::uint32_t rank) const noexcept { return idle_[rank] != 0; }
  // Packets that ranks send to others in one repetition: all of them, and those of the rank that sends most.
  [[nodiscard]] std::uint64_t packets() const noexcept { return packets_; }
  [[nodiscard]] std::uint64_t most_packets() const noexcept { return most_packets_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept;

 private:
  template <class T>
  [[nodiscard]] static std::span<const T> part(const std::vector<T>& all,
                                               const std::vector<std::uint64_t>& first,
                                               std::uint32_t rank) noexcept {
    return std::span{all}.subspan(first[rank], first[rank + 1] - first[rank]);
  }
  void number_labels(const ScriptText& text);
  void number_channels(const ScriptText& text);
  void match_messages(const ScriptText& text);
  void measure();

  std::string name_;
  std::vector<std::uint64_t> first_step_;
  std::vector<Step> steps_;
  std::vector<std::uint64_t> first_channel_;
  std::vector<Channel> channels_;
  std::vector<std::uint64_t> first_label_;
  std::vector<std::uint32_t> labels_;  // of the text
  std::vector<std::string> label_names_;
  std::vector<std::string> operation_names_;
  std::vector<std::uint8_t> idle_;  // [rank]
  std::uint64_t packets_ = 0;
  std::uint64_t most_packets_ = 0;
};

// The place of an operation in messages: "operation 5 of rank 3".
[[nodiscard]] std::string place_in(const ScriptText& text, std::uint64_t operation);

// Packets that have arrived at a rank, and packets that its receives still lack.
class ReceiveLedger {
 public:
  ReceiveLedger(std::span<const Script::Channel> channels, std::uint32_t num_labels)
      : channels_{channels}, balance_(channels.size()), lacking_(num_labels) {}

  void expect(std::uint32_t channel, std::int64_t packets) noexcept { change(channel, -packets); }
  void arrive(std::uint32_t channel, std::int64_t packets) noexcept { change(channel, packets); }
  [[nodiscard]] bool lacks(std::uint32_t label) const noexcept { return lacking_[label] > 0; }
  [[nodiscard]] bool lacks_any() const noexcept { return all_lacking_ > 0; }
  [[nodiscard]] bool lacks_on(std::uint32_t channel) const noexcept { return balance_[channel] < 0; }
  void archive(Archive& archive) {
    archive.fixed(balance_);
    archive.fixed(lacking_);
    archive(all_lacking_);
  }

 private:
  void change(std::uint32_t channel, std::int64_t packets) noexcept {
    if (channel >= balance_.size()) return;  // only in a state that was written by hand
    const bool lacked = balance_[channel] < 0;
    balance_[channel] += packets;
    const bool lacks = balance_[channel] < 0;
    if (lacked == lacks) return;
    const std::uint32_t more = lacks ? 1U : ~0U;
    lacking_[channels_[channel].label] += more;
    all_lacking_ += more;
  }

  std::span<const Script::Channel> channels_;
  std::vector<std::int64_t> balance_;   // [channel], packets: come less expected
  std::vector<std::uint32_t> lacking_;  // [label], channels
  std::uint32_t all_lacking_ = 0;
};

// Throws ConfigError if some rank would wait for ever; the message names the ranks that wait for each other.
void require_no_circle(const Script& script, const ScriptText& text);

}  // namespace dragonfly
