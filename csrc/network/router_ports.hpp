// The routers of a partition: buffers, crossbar, output queues, links and their credits.
#pragma once

#include <cstdint>
#include <vector>

#include "network/source_hosts.hpp"

namespace dragonfly {

class RouterPorts : public SourceHosts {
 protected:
  RouterPorts(const Blueprint& blueprint, PacketStore& store, FeedbackSignals& feedback, OpenDecisions* open,
              std::uint32_t index)
      : SourceHosts{blueprint, store, feedback, open, index}, keys_(blueprint.input_vcs) {}

  // One kind of event each.
  void clock_edge(std::uint32_t router, Tick now);
  void take_credit(std::uint32_t item, Tick now);
  void depart(std::uint32_t output, Tick now);
  void arrive(std::uint32_t packet, Tick now);
  void take_effect(std::uint32_t input_vc);

  // The packet at the head of an input VC asks for the crossbar from now on. (Inline functions:
  // router_inline.hpp.)
  [[gnu::always_inline]] void make_ready(InputVc& input);
  // The decision about a packet counts one routing delay from now.
  [[gnu::always_inline]] void await_effect(std::uint32_t packet, std::uint32_t input_vc, Tick now);

 private:
  void grant(std::uint32_t router, InputVc& input, OutputPort& output, VcQueue& queue, std::uint32_t stamp,
             Tick now);
  [[gnu::always_inline]] void expose_head(InputVc& input, Tick now);
  [[gnu::always_inline]] void plan_edge(std::uint32_t router, Tick edge);
  [[gnu::always_inline]] void plan_departure(std::uint32_t output, OutputPort& port, Tick ready);
  [[gnu::always_inline]] void credit_upstream(const InputPort& port, std::uint8_t vc, Tick now);
  [[nodiscard]] std::uint32_t choose_ready_vc(const OutputPort& output, const VcQueue* queues, Tick now,
                                              std::int32_t& earliest) const noexcept;
  void wake_waiting(std::uint32_t router, VcQueue& queue, Tick now);
  [[nodiscard]] bool decides_again(InputVc& input);
  void wait_for_room(InputVc& input, OutputPort& output, VcQueue& queue, Tick now);
  [[nodiscard]] std::uint64_t allocator_key(const InputVc& input) const noexcept;
  [[nodiscard]] std::uint64_t arbitration_key(const InputVc& input) const noexcept;

  // What learners and trackers hear of, where there are any (overheard_).
  void hear_credit(std::uint32_t output, Tick now);
  void hear_grant(std::uint32_t input_port, LinkClass came_by, const Packet& packet, const OutputPort& output,
                  Tick now);
  void hear_refusal(const InputVc& input, Tick now);
  void report_hop(const InputPort& port, std::uint32_t packet, Tick now);

  std::vector<std::uint64_t> keys_;  // scratch of the allocator
};

}  // namespace dragonfly
