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
      : SourceHosts{blueprint, store, feedback, open, index}, keys_(blueprint.input_vcs) {
    if (plan_.arbitration != Arbitration::kRoundRobin) return;
    last_requests_.resize(num_outputs_);
    last_inputs_.resize(std::size_t{num_outputs_} * 2);
    requests_.resize(radix_);
    best_requests_.assign(radix_, kNil);
  }

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
  static constexpr std::uint32_t kAllocatorRounds = 2;  // of round-robin arbiters, a clock cycle
  static constexpr std::uint64_t kServed = ~std::uint64_t{0};

  [[nodiscard]] bool allocate_round(std::uint32_t router, std::uint32_t asking, std::uint32_t& stamp,
                                    Tick now);
  void grant(std::uint32_t router, InputVc& input, OutputPort& output, VcQueue& queue, std::uint32_t stamp,
             Tick now);
  [[gnu::always_inline]] void expose_head(InputVc& input, Tick now);
  [[gnu::always_inline]] void plan_edge(std::uint32_t router, Tick edge);
  [[gnu::always_inline]] void plan_departure(std::uint32_t output, OutputPort& port, Tick ready);
  [[gnu::always_inline]] void credit_upstream(const InputPort& port, std::uint8_t vc, Tick now);
  [[nodiscard]] std::uint32_t choose_ready_vc(const OutputPort& output, const VcQueue* queues, Tick now,
                                              std::int32_t& earliest) const noexcept;
  void wake_waiting(std::uint32_t router, VcQueue& queue, Tick now);
  [[nodiscard]] bool refuse(InputVc& input, Refusal why, Tick now);
  [[nodiscard]] AfterRefusal after_refusal_of(const InputVc& input) const noexcept;
  void decide_again(InputVc& input, AfterRefusal how);
  void wait_for_room(InputVc& input, OutputPort& output, VcQueue& queue, Tick now);
  [[nodiscard]] std::uint64_t allocator_key(const InputVc& input) const noexcept;
  [[nodiscard]] std::uint32_t circle_of(const InputVc& input) const noexcept;
  [[nodiscard]] std::uint32_t output_key(const InputVc& input) const noexcept;
  [[nodiscard]] bool is_own_host(const InputVc& input) const noexcept;
  [[nodiscard]] VcQueue& queue_of(const InputVc& input) noexcept;
  [[nodiscard]] bool has_room(const OutputPort& output, const VcQueue& queue) const noexcept;

  // What learners and trackers hear of, where there are any (overheard_).
  void hear_credit(std::uint32_t output, Tick now);
  void hear_grant(std::uint32_t input_port, LinkClass came_by, const Packet& packet, const OutputPort& output,
                  Tick now);
  void report_hop(const InputPort& port, std::uint32_t packet, Tick now);

  // Of round-robin arbiters.
  std::vector<std::uint16_t> last_requests_;  // [router * radix + input port]: the input VC that asked last
  std::vector<std::uint16_t> last_inputs_;    // [(router * radix + output port) * 2 + whether a host's]: the
                                              // input port that was served last

  // Scratch of the allocator.
  std::vector<std::uint64_t> keys_;           // of the input VCs that ask, or kServed
  std::vector<std::uint32_t> requests_;       // [i]: places in keys_, at most one an input port
  std::vector<std::uint32_t> best_requests_;  // [output port]: the same
};

}  // namespace dragonfly
