#include "tests/support/event_record.hpp"

#include <utility>

namespace sluice::test {

Uuid id_of(int number) {
  Uuid id = *Uuid::parse("0196b2f1-7c1e-7a3b-9d2e-000000000000");
  id.bytes[15] = static_cast<std::uint8_t>(number);
  return id;
}

EnvelopeDraft a_draft_of(const Uuid& id, const std::string& event_type) {
  EnvelopeDraft draft;
  draft.event_id = id;
  draft.event_type = event_type;
  draft.occurred_at = kStart;
  draft.source = "demo";
  draft.payload = R"({"n": 12345678901234567890123})";
  draft.idempotency_key = id.to_string();
  return draft;
}

store::EventRecord a_record(const Uuid& id, const std::string& event_type) {
  store::EventRecord record{.envelope = EventEnvelope::trusted(a_draft_of(id, event_type))};
  record.seq = id.bytes[15];
  record.content_class = "default";
  record.channel = "outbox_gen_1";
  record.generation = 1;
  record.published_at = record.envelope.occurred_at();
  return record;
}

}  // namespace sluice::test
