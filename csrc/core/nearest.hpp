// The known name that a misspelt one most likely means.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace dragonfly {

// Levenshtein distance: insertions, deletions and replacements that turn one word into the other.
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

// "did you mean 'x'? known: x, y, z". A name is suggested if at least half of the word is right, or if it
// contains the word; ties go to the earlier name. Long lists are behind a command.
inline std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
  constexpr std::size_t kShortList = 8;
  std::string list;
  const std::string* nearest = nullptr;
  std::size_t distance = word.size() / 2 + 1;
  for (const std::string& name : known) {
    list += (list.empty() ? "" : ", ") + name;
    const bool contains = word.size() > 2 && name.find(word) != std::string::npos;
    const std::size_t d = contains ? 1 : edit_distance(word.substr(0, 200), name);
    if (d < distance) {
      nearest = &name;
      distance = d;
    }
  }
  return (nearest == nullptr ? "" : "did you mean '" + *nearest + "'? ") +
         (known.size() <= kShortList ? "known: " + list
                                     : "'dragonfly-env info' lists all " + std::to_string(known.size()));
}

}  // namespace dragonfly
