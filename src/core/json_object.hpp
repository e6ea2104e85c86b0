// Writes one JSON object, member by member, in the order of the calls.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/time.hpp>
#include <sluice/uuid.hpp>

namespace sluice {

class JsonObject {
 public:
  JsonObject() = default;
  /// Continues an object that is already text: `{"a":1}` stays as it is and more members follow.
  explicit JsonObject(std::string_view object);

  JsonObject& text(std::string_view name, std::optional<std::string_view> value);  ///< none: null
  JsonObject& time(std::string_view name, std::optional<Timestamp> value);
  JsonObject& uuid(std::string_view name, const std::optional<Uuid>& value);
  JsonObject& number(std::string_view name, std::int64_t value);
  /// Up to three digits behind the point; what is no number is null.
  JsonObject& decimal(std::string_view name, double value);
  JsonObject& boolean(std::string_view name, bool value);
  /// `json` is JSON text and is written as it is.
  JsonObject& raw(std::string_view name, std::string_view json);
  /// `elements` are JSON texts.
  JsonObject& array(std::string_view name, const std::vector<std::string>& elements);
  /// An array of strings.
  JsonObject& texts(std::string_view name, const std::vector<std::string>& values);

  [[nodiscard]] std::string str() const { return body_ + '}'; }

 private:
  void name(std::string_view name);
  std::string body_ = "{";
};

/// As JsonObject::decimal writes it.
std::string json_decimal(double value);

/// `[a,b]` of JSON texts.
std::string json_array(const std::vector<std::string>& elements);

}  // namespace sluice
