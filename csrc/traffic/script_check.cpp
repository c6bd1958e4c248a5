// The check that one repetition of a script comes to its end: it executes the repetition in no time at all.
//
// Sends never wait for receivers, so a rank can only stop at a wait for a message that has not been sent; the
// set of sent messages does not depend on which rank is tried first. So if the ranks get stuck here, they get
// stuck in every run.
#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/error.hpp"
#include "traffic/script.hpp"

namespace dragonfly {

namespace {

class Rehearsal {
 public:
  explicit Rehearsal(const Script& script) : script_{script}, next_(script.num_ranks()) {
    for (std::uint32_t rank = 0; rank < script.num_ranks(); ++rank) {
      ledgers_.emplace_back(script.channels(rank), script.num_labels(rank));
      ready_.push_back(script.num_ranks() - 1 - rank);
    }
    while (!ready_.empty()) {
      const std::uint32_t rank = ready_.back();
      ready_.pop_back();
      go_on(rank);
    }
  }

  // Counts a rank that lacks nothing as done: at the end of its list it waits for all.
  [[nodiscard]] bool is_stuck(std::uint32_t rank) const {
    return next_[rank] < script_.steps(rank).size() || ledgers_[rank].lacks_any();
  }
  [[nodiscard]] std::size_t next(std::uint32_t rank) const { return next_[rank]; }

  // A channel on which a stuck rank waits.
  [[nodiscard]] const Script::Channel& lacked(std::uint32_t rank) const {
    const auto steps = script_.steps(rank);
    const auto channels = script_.channels(rank);
    for (std::uint32_t i = 0; i < channels.size(); ++i) {
      const bool any = next_[rank] == steps.size() || steps[next_[rank]].kind == Step::Kind::kWaitAll;
      if (ledgers_[rank].lacks_on(i) && (any || channels[i].label == steps[next_[rank]].label)) {
        return channels[i];
      }
    }
    return channels.front();  // not reached: a stuck rank lacks a message
  }

 private:
  void go_on(std::uint32_t rank) {
    const auto steps = script_.steps(rank);
    ReceiveLedger& own = ledgers_[rank];
    for (; next_[rank] < steps.size(); ++next_[rank]) {
      const Step& step = steps[next_[rank]];
      switch (step.kind) {
        case Step::Kind::kSend:
        case Step::Kind::kSendAllToAll: {
          ReceiveLedger& theirs = ledgers_[step.partner];
          theirs.arrive(step.channel, step.amount);
          if (step.partner != rank && waits_no_more(step.partner)) ready_.push_back(step.partner);
          break;
        }
        case Step::Kind::kReceive:
          own.expect(step.channel, step.amount);
          break;
        case Step::Kind::kWait:
          if (own.lacks(step.label)) return;
          break;
        case Step::Kind::kWaitAll:
          if (own.lacks_any()) return;
          break;
        default:
          break;
      }
    }
  }
  // Whether a rank at a wait may go on; a rank that is not at a wait is already among the ready ones.
  [[nodiscard]] bool waits_no_more(std::uint32_t rank) const {
    const auto steps = script_.steps(rank);
    if (next_[rank] == steps.size()) return false;
    const Step& step = steps[next_[rank]];
    if (step.kind == Step::Kind::kWait) return !ledgers_[rank].lacks(step.label);
    return step.kind == Step::Kind::kWaitAll && !ledgers_[rank].lacks_any();
  }

  const Script& script_;
  std::vector<ReceiveLedger> ledgers_;  // [rank]
  std::vector<std::size_t> next_;       // [rank], operation
  std::vector<std::uint32_t> ready_;
};

}  // namespace

void require_no_circle(const Script& script, const ScriptText& text) {
  const Rehearsal rehearsal{script};
  std::uint32_t rank = 0;
  while (rank < script.num_ranks() && !rehearsal.is_stuck(rank)) ++rank;
  if (rank == script.num_ranks()) return;

  // Every send has its receive, so whom a stuck rank waits for is stuck, too: the chain ends in a circle.
  std::vector<std::uint32_t> chain;
  while (std::ranges::find(chain, rank) == chain.end()) {
    chain.push_back(rank);
    rank = rehearsal.lacked(rank).from;
  }
  const std::vector<std::uint32_t> circle{std::ranges::find(chain, rank), chain.end()};
  constexpr std::size_t kMostNamed = 8;
  std::string who;
  for (std::size_t i = 0; i < circle.size() && i < kMostNamed; ++i) {
    const std::uint32_t one = circle[i];
    const Script::Channel& channel = rehearsal.lacked(one);
    const std::size_t at = std::min(rehearsal.next(one), script.steps(one).size() - 1);
    who += (i == 0 ? "rank " : ", which waits for rank ");
    if (i == 0) who += std::to_string(one) + " waits for rank ";
    who += std::to_string(channel.from) + " ('" + script.label_name(one, channel.label) + "', " +
           place_in(text, text.first[one] + at) + ")";
  }
  if (circle.size() > kMostNamed) who += ", and so on";
  throw ConfigError{text.name, std::to_string(circle.size()) + (circle.size() == 1 ? " rank" : " ranks"),
                    "must not wait in a circle: " + who};
}

}  // namespace dragonfly
