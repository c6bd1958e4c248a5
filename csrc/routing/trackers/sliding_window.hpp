// Counts over the last so many ticks: notes that are taken back when they are older.
//
// The papers' routers keep a ring buffer with a place per cycle and update it every cycle (LIA, TACO 2025,
// section 5.2). Here each note is in one queue of the partition, since time never goes back and all windows
// of a tracker are equally long; every write or read first takes back the notes that are due. The numbers are
// the same at every time.
#pragma once

#include <cstdint>
#include <vector>

#include "core/archive.hpp"
#include "core/time.hpp"

namespace dragonfly {

class SlidingWindow {
 public:
  struct Note {
    std::uint32_t router = 0;  // within the partition
    std::uint32_t group = 0;
  };

  explicit SlidingWindow(Tick length) : length_{length} {}

  // Counts from `now` on, as long as less than the window's length has passed.
  void add(Note note, Tick now) { notes_.push_back({now + length_, note}); }

  // Calls take_back(note) for all that no longer counts.
  template <class TakeBack>
  [[gnu::always_inline]] inline void move_to(Tick now, TakeBack take_back) {
    if (first_ == notes_.size() || notes_[first_].due > now) return;
    take_back_until(now, take_back);
  }
  void archive(Archive& archive) { archive(notes_, first_); }

 private:
  struct Dated {
    Tick due = 0;
    Note note{};
    void archive(Archive& archive) { archive(due, note.router, note.group); }
  };

  // Takes back all notes that are due. Precondition: the first one is.
  template <class TakeBack>
  [[gnu::noinline]] void take_back_until(Tick now, TakeBack take_back) {
    do {
      take_back(notes_[first_].note);
      ++first_;
    } while (first_ < notes_.size() && notes_[first_].due <= now);
    // A constant amount of work per note, and no more room than twice the most that ever counts at once.
    if (first_ * 2 < notes_.size()) return;
    notes_.erase(notes_.begin(), notes_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }

  Tick length_;
  std::vector<Dated> notes_;  // notes by time; valid from first_ on
  std::size_t first_ = 0;
};

}  // namespace dragonfly
