// What one partition sends to another during a window.
#pragma once

#include <cstdint>
#include <vector>

#include "core/timing_wheel.hpp"
#include "routing/acknowledgement.hpp"

namespace dragonfly {

struct Mailbox {
  struct Item {
    std::uint32_t item;   // a packet (its `next` is the input VC, numbered by the receiver), or a credit
    std::uint32_t delay;  // from the start of the window in which it was sent to its arrival
  };
  std::vector<Item> packets;
  std::vector<Item> credits;
  std::vector<Acknowledgement> acknowledgements;
  std::uint32_t messages = 0;  // that jobs that end have sent to hosts of the receiver: an announcement
  Tick window_start = 0;
};

}  // namespace dragonfly
