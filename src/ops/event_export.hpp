// Events that leave the house: NDJSON without what is private, and a fixture with a test that reproduces one
// failure.
#pragma once

#include <string>

#include "core/redact.hpp"
#include "store/administer.hpp"

namespace sluice::ops {

/// The same envelope around another payload.
EventEnvelope with_payload(const EventEnvelope& envelope, std::string payload);

/// Errors quote what they choked on: where every value is private, only the normalised text leaves.
std::string redacted_error(const std::string& error, const RedactionPolicy& policy);
/// Payload, error and history.
store::EventRecord redacted(const store::EventRecord& event, const RedactionPolicy& policy);

/// The event's JSON as everywhere, its payload and errors redacted.
std::string export_json(const store::EventRecord& event, const RedactionPolicy& policy);

struct Repro {
  std::string name;     ///< `billing_invoice_paid_5f6a7b8c`: the stem of both files
  std::string fixture;  ///< the redacted envelope, for EventEnvelope::from_json
  std::string test;     ///< C++ with GoogleTest: reads the fixture; the handler's call is left to the developer
};
Repro make_repro(const store::EventRecord& event, const RedactionPolicy& policy);

}  // namespace sluice::ops
