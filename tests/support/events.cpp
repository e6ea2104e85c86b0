#include "tests/support/events.hpp"

#include <mutex>
#include <random>
#include <stdexcept>

namespace sluice::test {

Uuid new_id() {
  static std::mutex mutex;
  static UuidV7Sequence sequence;
  static std::random_device device;
  std::array<std::uint8_t, 10> random{};
  const std::lock_guard lock{mutex};
  for (auto& byte : random) byte = static_cast<std::uint8_t>(device());
  return sequence.next(wall_clock(), random);
}

Timestamp wall_clock() {
  return std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
}

EnvelopeDraft a_draft(const std::string& event_type) {
  EnvelopeDraft draft;
  draft.event_id = new_id();
  draft.event_type = event_type;
  draft.occurred_at = wall_clock();
  draft.source = "tests";
  draft.payload = R"({"n":1})";
  return draft;
}

store::NewEvent an_event(EnvelopeDraft draft) {
  auto envelope = EventEnvelope::make(std::move(draft));
  if (!envelope) throw std::logic_error("a bad test event: " + envelope.error().message);
  return store::NewEvent{.envelope = *std::move(envelope)};
}

store::NewEvent an_event(const std::string& event_type) { return an_event(a_draft(event_type)); }

store::NewEvent a_keyed_event(const std::string& ordering_key) {
  store::NewEvent event = an_event();
  event.ordering_key = ordering_key;
  return event;
}

std::vector<store::NewEvent> events(int count) {
  std::vector<store::NewEvent> made;
  for (int n = 0; n < count; ++n) made.push_back(an_event());
  return made;
}

}  // namespace sluice::test
