// What a delivery sends: body, headers and the Standard Webhooks signature. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sluice/envelope.hpp>
#include <sluice/time.hpp>

namespace sluice::sink {

enum class BodyFormat {
  envelope,                ///< Sluice's own JSON
  cloudevents_binary,      ///< `ce-*` headers; the body is the payload
  cloudevents_structured,  ///< one JSON object with the attributes and the data
};

struct RequestRules {
  BodyFormat format = BodyFormat::envelope;
  std::vector<std::string> keys;  ///< raw bytes, the newest first; each of them signs; none: unsigned
};

class DeliveryRequest {
 public:
  DeliveryRequest() = default;
  /// The id is that of the event, in every attempt and replay; the timestamp is that of this attempt.
  DeliveryRequest(const EventEnvelope& event, const RequestRules& rules, Timestamp now);

  [[nodiscard]] std::string_view body() const { return std::string_view{content_}.substr(body_at_); }
  /// Complete lines, `name: value`: those that differ from delivery to delivery.
  [[nodiscard]] const std::vector<std::string>& headers() const { return headers_; }
  [[nodiscard]] Timestamp signed_at() const { return signed_at_; }
  /// The receiver continues this one instead of the event's own.
  void pass_on(std::string_view traceparent);

 private:
  std::string content_;  // `id.timestamp.body`, as it is signed: the body is not copied for it
  std::size_t body_at_ = 0;
  std::vector<std::string> headers_;
  Timestamp signed_at_{};
};

/// The headers that are the same in every delivery, as lines.
std::vector<std::string> fixed_headers(BodyFormat format, std::string_view version,
                                       const std::vector<std::pair<std::string, std::string>>& own);

}  // namespace sluice::sink
