// Whether a state that came from a file can be the state of a network at all.
//
// A checksum finds what was damaged by accident; whoever writes a file can compute it. So everything in the
// state that is used as an index, or ends a loop, is checked here against the plan, which is built from the
// configuration. A state that passes may still be one that no run leads to: then its numbers mean nothing,
// and nothing worse happens.
#pragma once

#include <span>

#include "core/archive.hpp"
#include "network/mail.hpp"
#include "network/partition.hpp"

namespace dragonfly {

// Both throw ConfigError. Of a partition that was just read:
void require_sound(const Archive& archive, const PartitionState& s);
// Of what one of these partitions sends to the others:
void require_sound(const Archive& archive, const Mail& mail, std::span<const Partition> all);

}  // namespace dragonfly
