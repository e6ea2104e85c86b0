#include "core/payload_redaction.hpp"

#include <algorithm>

#include "core/json.hpp"

namespace sluice {
namespace {

constexpr std::string_view kField = "payload";

std::string folded(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (c == '_' || c == '-') continue;
    plain += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return plain;
}

class Redaction {
 public:
  explicit Redaction(const RedactionPolicy& policy) : policy_(policy) {}

  void write(std::string_view value, bool hidden) {
    const auto kind = json::check(value, kField, {json::kMaxDepth});
    // Not JSON after all: what cannot be read cannot be judged.
    if (!kind) return json::append_quoted(out_, kRedacted);
    switch (*kind) {
      case json::Kind::object:
        return object(value, hidden);
      case json::Kind::array:
        return array(value, hidden);
      case json::Kind::string:
      case json::Kind::number:
        if (hidden || policy_.mode == RedactionPolicy::Mode::values) return json::append_quoted(out_, kRedacted);
        break;
      case json::Kind::boolean:
      case json::Kind::null:
        if (hidden) return json::append_quoted(out_, kRedacted);
        break;
    }
    out_ += value;
  }

  std::string text() && { return std::move(out_); }

 private:
  void object(std::string_view value, bool hidden) {
    const auto members = json::members(value, kField, {json::kMaxDepth});
    // A name that stands twice cannot be judged either: readers differ in which one they believe.
    if (!members) return json::append_quoted(out_, kRedacted);
    out_ += '{';
    const char* separator = "";
    for (const auto& [name, member] : *members) {
      out_ += separator;
      json::append_quoted(out_, name);
      out_ += ':';
      write(member, hidden || is_private(name));
      separator = ",";
    }
    out_ += '}';
  }

  void array(std::string_view value, bool hidden) {
    out_ += '[';
    const char* separator = "";
    const auto elements = json::elements(value, kField, {json::kMaxDepth});
    for (const std::string_view element : *elements) {
      out_ += separator;
      write(element, hidden);
      separator = ",";
    }
    out_ += ']';
  }

  [[nodiscard]] bool is_private(std::string_view name) const {
    const std::string plain = folded(name);
    return std::any_of(policy_.fields.begin(), policy_.fields.end(), [&](const std::string& field) {
      return !field.empty() && plain.find(folded(field)) != std::string::npos;
    });
  }

  const RedactionPolicy& policy_;
  std::string out_;
};

}  // namespace

std::string redact_payload(std::string_view json, const RedactionPolicy& policy) {
  if (policy.mode == RedactionPolicy::Mode::none) return std::string{json};
  Redaction redaction{policy};
  redaction.write(json, false);
  return std::move(redaction).text();
}

}  // namespace sluice
