// CloudEvents 1.0 over HTTP, both ways: the three forms of a request on the way in, and the same forms of an
// envelope on the way out. Pure.
//
// What travels beyond the standard attributes, so that an event that left Sluice as a CloudEvent comes back as it was:
// `sluiceversion` (event_version), `sluicetarget`, `sluiceworkspace`, `sluicekey` (idempotency_key), and, on the way
// in only, `sluicesource` (the context, where `source` is not to be translated).
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sluice/envelope.hpp>
#include <sluice/result.hpp>
#include "core/json.hpp"

namespace sluice::cloudevents {

inline constexpr std::string_view kStructured = "application/cloudevents+json";
inline constexpr std::string_view kBatch = "application/cloudevents-batch+json";

/// An event as it came: required attributes are there and not empty, nothing else is checked.
struct CloudEvent {
  std::string id;
  std::string source;
  std::string type;
  std::optional<std::string> data;            ///< JSON text; of the binary form: the body as it is
  std::optional<json::Measure> data_measure;  ///< of `data`, where it was read with the rest of the event
  std::optional<std::string> data_base64;     ///< the text of the member; never together with `data`
  /// Every other attribute as text, numbers and booleans as they were written: `time`, `subject`, `traceparent`…
  std::map<std::string, std::string, std::less<>> attributes;

  [[nodiscard]] std::optional<std::string> attribute(std::string_view name) const;
};

/// `application/cloudevents+json`. The error names the attribute.
Result<CloudEvent> decode_structured(std::string_view json);

/// `application/cloudevents-batch+json`. The error names `events[3].type`.
Result<std::vector<CloudEvent>> decode_batch(std::string_view json);

/// `ce-*` headers with names in lower case, the body being the data. An empty body is no data. Headers that are no
/// attributes are passed over.
Result<CloudEvent> decode_binary(const std::map<std::string, std::string, std::less<>>& headers, std::string_view body);

/// The context that a `source` stands for: a scheme and `//` are dropped, letters become lower case, every run of
/// other characters than letters and digits becomes one `_`; `source_` goes before a digit; cut to 63 bytes.
/// `https://billing.example.com/eu` is `billing_example_com_eu`, `/billing` and `billing` are `billing`. Empty when
/// nothing is left.
std::string context_of(std::string_view source);

/// The attributes, then `data` with the payload as it is.
std::string encode_structured(const EventEnvelope& event);
std::string encode_batch(std::span<const EventEnvelope> events);

/// The `ce-*` headers of the binary form, values percent-encoded. The body is the payload, and its Content-Type
/// `application/json` is the caller's to set.
std::vector<std::pair<std::string, std::string>> encode_binary_headers(const EventEnvelope& event);

}  // namespace sluice::cloudevents
