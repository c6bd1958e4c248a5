#include "traffic/script.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/error.hpp"
#include "traffic/program.hpp"

namespace dragonfly {

namespace {

bool is_send(Step::Kind kind) noexcept {
  return kind == Step::Kind::kSend || kind == Step::Kind::kSendAllToAll;
}
bool is_message(Step::Kind kind) noexcept { return is_send(kind) || kind == Step::Kind::kReceive; }
bool is_mark(Step::Kind kind) noexcept { return kind == Step::Kind::kBegin || kind == Step::Kind::kEnd; }

std::uint32_t rank_of(const ScriptText& text, std::uint64_t operation) {
  const auto after = std::ranges::upper_bound(text.first, operation);
  return static_cast<std::uint32_t>(after - text.first.begin() - 1);
}

[[noreturn]] void refuse(const ScriptText& text, std::uint64_t operation, const std::string& field,
                         const std::string& value, const std::string& allowed) {
  throw ConfigError{text.name + ", " + place_in(text, operation) + ", " + field, value, allowed};
}

}  // namespace

std::string place_in(const ScriptText& text, std::uint64_t operation) {
  const std::uint32_t rank = rank_of(text, operation);
  return "operation " + std::to_string(operation - text.first[rank]) + " of rank " + std::to_string(rank);
}

Script::Script(ScriptText text) : name_{text.name} {
  first_step_ = text.first;
  number_labels(text);
  number_channels(text);
  match_messages(text);
  label_names_ = text.label_names;
  operation_names_ = text.operation_names;
  measure();
  require_no_circle(*this, text);
}

// Labels of a rank are numbered from 0, so that a rank needs memory for its own only.
void Script::number_labels(const ScriptText& text) {
  steps_.resize(text.kinds.size());
  first_label_.push_back(0);
  std::vector<std::uint32_t> used;
  for (std::uint32_t rank = 0; rank < num_ranks(); ++rank) {
    used.clear();
    for (std::uint64_t i = text.first[rank]; i < text.first[rank + 1]; ++i) {
      const auto kind = static_cast<Step::Kind>(text.kinds[i]);
      if (is_message(kind) || kind == Step::Kind::kWait) used.push_back(text.labels[i]);
    }
    std::ranges::sort(used);
    const auto repeated = std::ranges::unique(used);
    used.erase(repeated.begin(), repeated.end());
    for (std::uint64_t i = text.first[rank]; i < text.first[rank + 1]; ++i) {
      Step& step = steps_[i];
      step.kind = static_cast<Step::Kind>(text.kinds[i]);
      step.partner = text.partners[i];
      step.amount = text.amounts[i];
      if (is_mark(step.kind)) step.label = text.labels[i];
      if (is_message(step.kind) || step.kind == Step::Kind::kWait) {
        const auto at = std::ranges::lower_bound(used, text.labels[i]);
        step.label = static_cast<std::uint32_t>(at - used.begin());
      }
    }
    labels_.insert(labels_.end(), used.begin(), used.end());
    first_label_.push_back(labels_.size());
  }
}

void Script::number_channels(const ScriptText& text) {
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // receiver, sender, label of the text
  std::vector<Key> keys;
  for (std::uint32_t rank = 0; rank < num_ranks(); ++rank) {
    for (std::uint64_t i = text.first[rank]; i < text.first[rank + 1]; ++i) {
      if (steps_[i].kind == Step::Kind::kReceive) keys.emplace_back(rank, text.partners[i], text.labels[i]);
    }
  }
  std::ranges::sort(keys);
  const auto repeated = std::ranges::unique(keys);
  keys.erase(repeated.begin(), repeated.end());
  first_channel_.assign(num_ranks() + 1, 0);
  for (const auto& [to, from, label] : keys) {
    ++first_channel_[to + 1];
    const auto own = std::span{labels_}.subspan(first_label_[to], num_labels(to));
    const auto at = std::ranges::lower_bound(own, label);
    channels_.push_back({.from = from, .label = static_cast<std::uint32_t>(at - own.begin())});
  }
  for (std::uint32_t rank = 0; rank < num_ranks(); ++rank) first_channel_[rank + 1] += first_channel_[rank];

  for (std::uint32_t rank = 0; rank < num_ranks(); ++rank) {
    for (std::uint64_t i = text.first[rank]; i < text.first[rank + 1]; ++i) {
      Step& step = steps_[i];
      if (!is_message(step.kind)) continue;
      const bool sends = is_send(step.kind);
      const Key key{sends ? step.partner : rank, sends ? rank : step.partner, text.labels[i]};
      const auto at = std::ranges::lower_bound(keys, key);
      if (at == keys.end() || *at != key) {
        const std::string& label = text.label_names[text.labels[i]];
        refuse(text, i, "send", "'" + label + "' to rank " + std::to_string(step.partner),
               "must be received: rank " + std::to_string(step.partner) + " never receives '" + label +
                   "' from rank " + std::to_string(rank));
      }
      step.channel = static_cast<std::uint32_t>(static_cast<std::uint64_t>(at - keys.begin()) -
                                                first_channel_[std::get<0>(key)]);
    }
  }
}

// The k-th receive of a channel is for its k-th send, and gets its size.
void Script::match_messages(const ScriptText& text) {
  using Place = std::pair<std::uint64_t, std::uint64_t>;  // channel of all, operation
  std::vector<Place> sends;
  std::vector<Place> receives;
  for (std::uint32_t rank = 0; rank < num_ranks(); ++rank) {
    for (std::uint64_t i = text.first[rank]; i < text.first[rank + 1]; ++i) {
      const Step& step = steps_[i];
      if (is_send(step.kind)) sends.emplace_back(first_channel_[step.partner] + step.channel, i);
      if (step.kind == Step::Kind::kReceive) receives.emplace_back(first_channel_[rank] + step.channel, i);
    }
  }
  std::ranges::sort(sends);
  std::ranges::sort(receives);
  const auto sends_any = [&](std::uint64_t channel) {
    return std::ranges::binary_search(sends, channel, {}, &Place::first);
  };
  const auto label_of = [&](std::uint64_t operation) {
    return "'" + text.label_names[text.labels[operation]] + "'";
  };
  std::size_t k = 0;
  for (const auto& [channel, operation] : receives) {
    if (k == sends.size() || sends[k].first > channel) {
      const std::string from = std::to_string(text.partners[operation]);
      refuse(text, operation, "receive", label_of(operation) + " from rank " + from,
             "must be sent: rank " + std::to_string(rank_of(text, operation)) + " waits for rank " + from +
                 ", which does not send it " + label_of(operation) + (sends_any(channel) ? " as often" : ""));
    }
    if (sends[k].first < channel) break;  // of an earlier channel, and without a receive
    const std::uint64_t sent_by = sends[k++].second;
    const std::int64_t bytes = text.amounts[sent_by];
    if (text.amounts[operation] != ScriptText::kAnyBytes && text.amounts[operation] != bytes) {
      refuse(text, operation, "bytes", std::to_string(text.amounts[operation]),
             "must be " + std::to_string(bytes) + ", as rank " + std::to_string(text.partners[operation]) +
                 " sends (" + place_in(text, sent_by) + "), or left out");
    }
    const std::int64_t packets =
        std::max<std::int64_t>(1, (bytes + text.packet_bytes - 1) / text.packet_bytes);
    steps_[operation].amount = steps_[sent_by].amount = packets;
  }
  if (k < sends.size()) {
    const std::uint64_t operation = sends[k].second;
    const std::string to = std::to_string(text.partners[operation]);
    refuse(text, operation, "send", label_of(operation) + " to rank " + to,
           "must be received: rank " + to + " does not receive " + label_of(operation) + " from rank " +
               std::to_string(rank_of(text, operation)) + " as often");
  }
}

void Script::measure() {
  for (std::uint32_t rank = 0; rank < num_ranks(); ++rank) {
    bool idle = true;
    std::uint64_t sent = 0;
    for (const Step& step : steps(rank)) {
      if (is_message(step.kind)) idle = false;
      if (step.kind == Step::Kind::kCompute && step.amount > 0) idle = false;
      if (is_send(step.kind)) sent += static_cast<std::uint64_t>(step.amount);
    }
    idle_.push_back(idle ? 1 : 0);
    packets_ += sent;
    most_packets_ = std::max(most_packets_, sent);
  }
}

std::uint64_t Script::bytes() const noexcept {
  return steps_.size() * sizeof(Step) + channels_.size() * sizeof(Channel) +
         labels_.size() * sizeof(std::uint32_t);
}

}  // namespace dragonfly
