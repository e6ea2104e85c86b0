// Events by generation and number: how index outbox_scan finds them.
#pragma once

#include <cstdint>
#include <vector>

#include "core/generation.hpp"
#include "store/postgres/pq_values.hpp"

namespace sluice::store {

struct EventNumbers {
  std::vector<Generation> generations;  ///< of each number
  std::vector<std::int64_t> numbers;

  void add(Generation generation, std::int64_t number) {
    generations.push_back(generation);
    numbers.push_back(number);
  }
  void add(const EventNumbers& more) {
    generations.insert(generations.end(), more.generations.begin(), more.generations.end());
    numbers.insert(numbers.end(), more.numbers.begin(), more.numbers.end());
  }
};

/// Appends them as one bigint[].
template <class Numbers>
void add_numbers(pq::Params& params, const Numbers& numbers) {
  pq::Params::Array array = params.array(pq::Params::Element::int8);
  for (const std::int64_t number : numbers) array.int8(number);
}

/// Appends them as two arrays, generations and numbers.
inline void add(pq::Params& params, const EventNumbers& events) {
  add_numbers(params, events.generations);
  add_numbers(params, events.numbers);
}

}  // namespace sluice::store
