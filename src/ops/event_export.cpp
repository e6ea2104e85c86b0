#include "ops/event_export.hpp"

#include <utility>

#include "core/failure.hpp"
#include "core/json.hpp"
#include "core/utf8.hpp"
#include "ops/event_json.hpp"

namespace sluice::ops {
namespace {

constexpr std::size_t kQuotedErrorBytes = 200;

// Only what may stand in a C++ identifier and a comment.
std::string stem_of(const EventEnvelope& envelope) {
  std::string stem;
  for (const char c : envelope.event_type()) {
    const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    stem += word ? c : '_';
  }
  const std::string id = envelope.event_id().to_string();
  return stem + '_' + id.substr(id.size() - 8);
}

std::string comment_line(const std::string& text) {
  std::string line;
  for (const char c : utf8::prefix(text, kQuotedErrorBytes)) {
    line += static_cast<unsigned char>(c) < 0x20 || c == '\\' ? ' ' : c;
  }
  return line;
}

}  // namespace

EventEnvelope with_payload(const EventEnvelope& envelope, std::string payload) {
  EnvelopeDraft draft;
  draft.event_id = envelope.event_id();
  draft.event_type = envelope.event_type();
  draft.event_version = envelope.event_version();
  draft.occurred_at = envelope.occurred_at();
  draft.source = envelope.source();
  draft.target = envelope.target();
  draft.workspace_id = envelope.workspace_id();
  draft.payload = std::move(payload);
  draft.idempotency_key = envelope.idempotency_key();
  draft.trace_context = envelope.trace_context();
  return EventEnvelope::trusted(std::move(draft));
}

std::string redacted_error(const std::string& error, const RedactionPolicy& policy) {
  return policy.mode == RedactionPolicy::Mode::values ? normalise_error(error) : error;
}

store::EventRecord redacted(const store::EventRecord& event, const RedactionPolicy& policy) {
  store::EventRecord copy = event;
  copy.envelope = with_payload(event.envelope, redact_payload(event.envelope.payload(), policy));
  if (copy.last_error) copy.last_error = redacted_error(*copy.last_error, policy);
  // An edit leaves the payload before it there.
  copy.failure_history = redact_payload(copy.failure_history, policy);
  return copy;
}

std::string export_json(const store::EventRecord& event, const RedactionPolicy& policy) {
  return to_json(redacted(event, policy));
}

Repro make_repro(const store::EventRecord& event, const RedactionPolicy& policy) {
  const EventEnvelope envelope = with_payload(event.envelope, redact_payload(event.envelope.payload(), policy));
  Repro repro;
  repro.name = stem_of(envelope);
  repro.fixture = envelope.to_json() + '\n';
  const std::string error = comment_line(redacted_error(event.last_error.value_or("no error recorded"), policy));
  repro.test =
      "// Reproduces event " + envelope.event_id().to_string() + ", which failed after " +
      std::to_string(event.attempts) + (event.attempts == 1 ? " attempt" : " attempts") + " with\n//   " + error +
      "\n//\n// Values that read \"" + std::string{kRedacted} +
      "\" were hidden by the export: put in ones of the same kind.\n"
      "#include <gtest/gtest.h>\n\n#include <fstream>\n#include <sstream>\n\n#include <sluice/envelope.hpp>\n\n"
      "namespace {\n\n"
      "sluice::Result<sluice::EventEnvelope> fixture(const char* path) {\n"
      "  std::stringstream text;\n  text << std::ifstream{path}.rdbuf();\n"
      "  return sluice::EventEnvelope::from_json(text.str());\n}\n\n"
      "TEST(Repro, " +
      repro.name +
      ") {\n"
      "  const auto event = fixture(\"" +
      repro.name +
      ".json\");\n"
      "  ASSERT_TRUE(event) << event.error().message;\n"
      "  EXPECT_EQ(event->event_type(), " +
      json::quote(envelope.event_type()) +
      ");\n"
      "  // Call the handler here; as long as the defect is there, it fails as above:\n"
      "  //   EXPECT_NO_THROW(handle(*event));\n"
      "}\n\n}  // namespace\n";
  return repro;
}

}  // namespace sluice::ops
