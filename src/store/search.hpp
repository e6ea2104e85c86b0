// Finding events by what they carry: the indexes that a store can be given for it, and filters that a team keeps.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include <sluice/time.hpp>

namespace sluice::store {

/// An index that is made on demand, because every publish pays for it.
enum class SearchIndex {
  payload,  ///< values of the payload
  trace,    ///< trace ids
};
inline constexpr std::array<std::string_view, 2> kSearchIndexes{"payload", "trace"};
constexpr std::string_view name(SearchIndex index) { return kSearchIndexes[static_cast<std::size_t>(index)]; }

struct IndexRequest {
  SearchIndex index = SearchIndex::payload;
  bool drop = false;   ///< else it is made
  bool first = false;  ///< of a run: this step is audited
};

/// A filter with a name, for everybody who uses the store.
struct SavedFilter {
  std::string name;
  std::string filter;  ///< in the grammar of filters
  std::string saved_by;
  Timestamp saved_at{};
};

}  // namespace sluice::store
