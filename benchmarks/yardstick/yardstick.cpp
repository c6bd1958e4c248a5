// Yardstick 1: a fixed program that measures how fast a machine is at this very moment.
// A miniature of what a packet-level simulator does, and no part of this project's core: packets cross 264 routers in
// 33 groups on minimal ways, through queues, credits and link delays, driven by a timing wheel. A packet-hop takes
// about as many instructions, cache misses and mispredicted branches as one of the core with the policy `min`.
// Never change this file: figures of other machines and other years are multiples of it. Whoever needs another one
// writes yardstick 2 beside it. (tests/unit/test_benchmarks_yardstick.py holds its hash and its checksum.)
//     yardstick [laps]     ten take about a second and all do the same; prints one JSON object
#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>

namespace {

using std::uint16_t, std::uint32_t, std::uint64_t, std::uint8_t;

constexpr uint32_t kGroups = 33, kGroupRouters = 8, kRouters = kGroups * kGroupRouters;
constexpr uint32_t kLocal = 7, kGlobal = 4, kHosts = 4, kRadix = kLocal + kGlobal + kHosts;  // ports, in this order
constexpr uint32_t kPorts = kRouters * kRadix, kAllHosts = kRouters * kHosts, kPackets = 20'000;
constexpr uint32_t kVcs = 3, kVcBits = 2;  // a hop is a virtual channel: nothing can deadlock
constexpr uint32_t kPacketNs = 32, kLocalNs = 30, kGlobalNs = 300, kRoutingNs = 100, kLongestPauseNs = 512;
constexpr uint32_t kWarmupNs = 2'000, kEndNs = 14'000, kNil = 0xffffffff;

struct alignas(64) Packet {
  uint32_t next, destination, router, came_by;  // came_by: the port whose credit it holds
  uint32_t out_port, arrived, born, number, rank, vc, hops;
};
struct Queue {
  uint32_t head = kNil, tail = kNil;
  uint16_t queued = 0, credits = 20;
};
struct alignas(64) Port {
  std::array<Queue, kVcs> queues{};
  uint32_t free_at = 0, peer = kNil, sent = 0, delay = 0;
  uint8_t next_vc = 0, sendable = 0, scheduled = 0;
};
struct alignas(32) Buffer {  // behind a port, one per VC
  uint32_t queued = 0, most = 0, passed = 0, last = 0;
  uint64_t waited = 0;
};

enum Kind : uint32_t { kCredit, kDeparture, kArrival, kRouted, kKinds };
struct Wheel {  // slots of 1 ns, each with a list of items per kind, in chunks of a cache line
  static constexpr uint32_t kSlots = 1024, kItems = 15, kChunks = 16384;
  struct Slot {
    uint32_t head = kNil, tail = kNil, count = 0;
  };
  struct alignas(64) Chunk {
    uint32_t next = kNil;
    std::array<uint32_t, kItems> items{};
  };
  std::array<Slot, kSlots * kKinds> slots{};
  std::array<Chunk, kChunks> chunks{};
  uint32_t free = kNil, used = 0;

  void push(Kind kind, uint32_t when, uint32_t item) {
    Slot& slot = slots[when % kSlots * kKinds + kind];
    const uint32_t within = slot.count++ % kItems;
    if (within == 0) {
      const uint32_t chunk = free != kNil ? free : used++;
      if (chunk >= kChunks) std::abort();
      free = free != kNil ? chunks[chunk].next : kNil;
      (slot.count == 1 ? slot.head : chunks[slot.tail].next) = chunk;
      slot.tail = chunk;
    }
    chunks[slot.tail].items[within] = item;
  }
  template <class Touch, class Handle>
  void drain(Kind kind, uint32_t when, Touch&& touch, Handle&& handle) {
    Slot& slot = slots[when % kSlots * kKinds + kind];
    if (slot.count == 0) return;
    uint32_t chunk = slot.head;
    for (uint32_t left = slot.count; left > 0; chunk = chunks[chunk].next) {
      for (uint32_t i = kItems; i < 2 * kItems && i < left; ++i) touch(chunks[chunks[chunk].next].items[i - kItems]);
      for (uint32_t i = 0; i < kItems && left > 0; ++i, --left) handle(chunks[chunk].items[i]);
    }
    chunks[slot.tail].next = free;
    free = slot.head;
    slot.count = 0;
  }
};

std::array<uint32_t, 4> draws(uint32_t a, uint32_t b) {  // Philox4x32-10 (Salmon et al., SC 2011) of (a, b)
  std::array<uint32_t, 4> x{a, b, 0x2545f491, 0x4f6cdd1d};
  for (uint32_t round = 0, key0 = 1, key1 = 2; round < 10; ++round, key0 += 0x9e3779b9, key1 += 0xbb67ae85) {
    const uint64_t y = uint64_t{0xd2511f53} * x[0], z = uint64_t{0xcd9e8d57} * x[2];
    x = {uint32_t(z >> 32) ^ x[1] ^ key0, uint32_t(z), uint32_t(y >> 32) ^ x[3] ^ key1, uint32_t(y)};
  }
  return x;
}
uint32_t below(uint32_t bound, uint32_t draw) { return uint32_t((uint64_t{draw} * bound) >> 32); }

struct Miniature {
  std::array<Packet, kPackets> packets{};
  std::array<Port, kPorts> ports{};
  std::array<uint16_t, kPorts> loads{};  // packets queued, and credits in use
  std::array<Buffer, kPorts * kVcs> buffers{};
  std::array<uint32_t, 8192> histogram{};
  Wheel wheel;
  uint64_t checksum = 0, hops = 0;
  uint32_t now = 0, sent = 0;

  Miniature() {
    for (uint32_t i = 0; i < kPorts; ++i) {
      const uint32_t port = i % kRadix, group = i / kRadix / kGroupRouters, within = i / kRadix % kGroupRouters;
      if (port < kLocal) {
        ports[i].peer = group * kGroupRouters + port + (port >= within ? 1 : 0);
        ports[i].delay = kLocalNs;
      } else if (port < kLocal + kGlobal) {  // link k of a group leads k + 1 groups on
        const uint32_t k = within * kGlobal + port - kLocal;
        ports[i].peer = (group + k + 1) % kGroups * kGroupRouters + (kGroups - 2 - k) / kGlobal;
        ports[i].delay = kGlobalNs;
      }
    }
    for (uint32_t i = 0; i < kPackets; ++i) send(i);
  }
  void run(uint32_t end) {
    const auto touch_credit = [this](uint32_t item) { __builtin_prefetch(&ports[item >> kVcBits], 1); };
    const auto touch_port = [this](uint32_t item) { __builtin_prefetch(&ports[item], 1); };
    const auto touch_packet = [this](uint32_t item) { __builtin_prefetch(&packets[item], 1); };
    for (; now < end; ++now) {
      wheel.drain(kCredit, now, touch_credit, [this](uint32_t item) { take_credit(item); });
      wheel.drain(kDeparture, now, touch_port, [this](uint32_t item) { depart(item, ports[item]); });
      wheel.drain(kArrival, now, touch_packet, [this](uint32_t item) { arrive(item, packets[item]); });
      wheel.drain(kRouted, now, touch_packet, [this](uint32_t item) { enqueue(item, packets[item]); });
    }
  }
  void send(uint32_t index) {  // a new journey, after a pause
    const auto draw = draws(sent, 0);
    const uint32_t router = below(kRouters, draw[0]), born = now + 1 + below(kLongestPauseNs, draw[2]);
    const uint32_t destination = ((router + 1) * kHosts + below(kAllHosts - kHosts, draw[1])) % kAllHosts;
    packets[index] = {kNil, destination, router, kNil, kNil, 0, born, sent++, 0, 0, 0};
    wheel.push(kArrival, born, index);
  }
  static uint32_t route(uint32_t router, uint32_t destination) {
    const uint32_t target = destination / kHosts, first = router * kRadix, within = router % kGroupRouters;
    if (router == target) return first + kLocal + kGlobal + destination % kHosts;
    const uint32_t link = (target / kGroupRouters + kGroups - router / kGroupRouters + kGroups - 1) % kGroups;
    const uint32_t next = link == kGroups - 1 ? target % kGroupRouters : link / kGlobal;  // link 32: the own group
    if (next == within) return first + kLocal + link % kGlobal;
    return first + next - (next > within ? 1 : 0);
  }
  // The place of the wanted port among three random ones of its router, by load, then by the draws: adaptive policies
  // and allocators do such things. Only the checksum depends on it.
  uint32_t rank(const Packet& packet) const {
    std::array<uint64_t, 3> keys{};
    uint32_t count = 0, place = 0;
    for (const uint32_t draw : draws(packet.number, packet.hops + 1)) {
      if (count == keys.size()) break;
      const uint32_t port = packet.router * kRadix + below(kRadix, draw);
      const uint64_t key = (uint64_t{loads[port]} << 48) + (uint64_t{draw} << 16) + port;
      uint32_t i = count++;
      for (; i > 0 && key < keys[i - 1]; --i) keys[i] = keys[i - 1];
      keys[i] = key;
    }
    while (place < keys.size() && keys[place] >> 48 < loads[packet.out_port]) ++place;
    const auto more = draws(packet.number, packet.hops + 9), most = draws(packet.number, packet.hops + 17);
    return place + (uint32_t(keys[0]) ^ (more[0] + more[1] + more[2] + more[3] + most[0] + most[3])) % 64;
  }
  void arrive(uint32_t index, Packet& packet) {
    packet.arrived = now;
    packet.out_port = route(packet.router, packet.destination);
    packet.rank += rank(packet);
    if (packet.came_by != kNil) {
      Buffer& buffer = buffers[packet.came_by * kVcs + packet.vc];
      if (++buffer.queued > buffer.most) buffer.most = buffer.queued;
      ++hops;
    }
    wheel.push(kRouted, now + kRoutingNs, index);
  }
  void enqueue(uint32_t index, Packet& packet) {
    Port& port = ports[packet.out_port];
    const uint32_t vc = port.peer != kNil ? packet.hops : 0;
    Queue& queue = port.queues[vc];
    packet.next = kNil;
    (queue.queued++ == 0 ? queue.head : packets[queue.tail].next) = index;
    queue.tail = index;
    ++loads[packet.out_port];
    plan(packet.out_port, port, vc);
  }
  void take_credit(uint32_t item) {
    const uint32_t index = item >> kVcBits, vc = item % (1 << kVcBits);
    ++ports[index].queues[vc].credits;
    --loads[index];
    plan(index, ports[index], vc);
  }
  void plan(uint32_t index, Port& port, uint32_t vc) {  // one departure for a port that can send; vc has changed
    const uint32_t sends = port.queues[vc].queued > 0 && port.queues[vc].credits > 0 ? 1 : 0;
    port.sendable = uint8_t((port.sendable & ~(1U << vc)) | sends << vc);
    if (port.scheduled != 0 || port.sendable == 0) return;
    port.scheduled = 1;
    wheel.push(kDeparture, port.free_at > now ? port.free_at : now + 1, index);
  }
  void depart(uint32_t index, Port& port) {
    const uint32_t behind = uint32_t{port.sendable} >> port.next_vc << port.next_vc;
    const uint32_t vc = uint32_t(std::countr_zero(behind != 0 ? behind : port.sendable));
    Queue& queue = port.queues[vc];
    const uint32_t leaving = queue.head;
    Packet& packet = packets[leaving];
    queue.head = packet.next;
    --queue.queued;
    ++port.sent;
    port.next_vc = uint8_t((vc + 1) % kVcs);
    port.free_at = now + kPacketNs;
    port.scheduled = 0;
    if (packet.came_by != kNil) {  // its place in the buffer is free
      Buffer& buffer = buffers[packet.came_by * kVcs + packet.vc];
      --buffer.queued;
      ++buffer.passed;
      buffer.waited += now - packet.arrived;
      buffer.last = packet.number;
      wheel.push(kCredit, now + ports[packet.came_by].delay, packet.came_by << kVcBits | packet.vc);
    }
    if (port.peer == kNil) {  // to its host
      --loads[index];
      const uint32_t latency = now - packet.born;
      ++hops;
      ++histogram[latency % histogram.size()];
      checksum = checksum * 31 + (uint64_t{packet.number} << 32) + (latency << 12) + (packet.rank << 2) + packet.hops;
      send(leaving);
    } else {
      --queue.credits;
      packet.came_by = index, packet.vc = vc, packet.router = port.peer, ++packet.hops;
      wheel.push(kArrival, now + kPacketNs + port.delay, leaving);
    }
    plan(index, port, vc);
  }
  uint64_t fingerprint() const {
    uint64_t sum = checksum + hops;
    for (const Port& port : ports) sum = sum * 31 + port.sent;
    for (const Buffer& buffer : buffers) sum = sum * 31 + buffer.waited + buffer.most + buffer.passed + buffer.last;
    for (const uint32_t count : histogram) sum = sum * 31 + count;
    return sum;
  }
};

double cpu_seconds() {
  std::timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

}  // namespace

int main(int count, char** arguments) {
  const int laps = count > 1 ? std::atoi(arguments[1]) : 10;
  uint64_t checksum = 0, hops = 0;
  double cpu_s = 0;
  for (int lap = 0; lap < laps; ++lap) {
    const auto miniature = std::make_unique<Miniature>();
    miniature->run(kWarmupNs);
    const uint64_t hops_before = miniature->hops;
    const double begin = cpu_seconds();
    miniature->run(kEndNs);
    cpu_s += cpu_seconds() - begin;
    hops += miniature->hops - hops_before;
    checksum = miniature->fingerprint();
  }
  std::printf("{\"yardstick\": 1, \"laps\": %d, \"packet_hops\": %llu, \"cpu_s\": %.9f, \"checksum\": \"%016llx\"}\n",
              laps, static_cast<unsigned long long>(hops), cpu_s, static_cast<unsigned long long>(checksum));
}
