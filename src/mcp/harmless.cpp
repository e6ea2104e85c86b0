#include "mcp/harmless.hpp"

#include <utility>

#include "core/json.hpp"
#include "core/utf8.hpp"
#include "core/words.hpp"

namespace sluice::mcp {
namespace {

constexpr std::string_view kJsonField = "json";
constexpr std::string_view kCut = "…";

// Rewrites one JSON value; what cannot be read becomes a string.
class Taming {
 public:
  void write(std::string_view value) {
    const auto kind = json::check(value, kJsonField, {json::kMaxDepth});
    if (!kind) return json::append_quoted(out_, harmless(value));
    if (*kind == json::Kind::object) return object(value);
    if (*kind == json::Kind::array) return array(value);
    if (*kind == json::Kind::string) return string(value);
    out_ += value;
  }
  std::string text() && { return std::move(out_); }

 private:
  void object(std::string_view value) {
    const auto members = json::members(value, kJsonField, {json::kMaxDepth});
    // A name that stands twice: which one a reader would believe is anybody's guess.
    if (!members) return json::append_quoted(out_, harmless(value));
    const char* separator = "{";
    for (const auto& [name, member] : *members) {
      out_ += separator;
      json::append_quoted(out_, harmless(name));
      out_ += ':';
      write(member);
      separator = ",";
    }
    out_ += members->empty() ? "{}" : "}";
  }
  void array(std::string_view value) {
    const auto elements = json::elements(value, kJsonField, {json::kMaxDepth});
    const char* separator = "[";
    for (const std::string_view element : *elements) {
      out_ += separator;
      write(element);
      separator = ",";
    }
    out_ += elements->empty() ? "[]" : "]";
  }
  void string(std::string_view value) { json::append_quoted(out_, harmless(*json::string_value(value, kJsonField))); }

  std::string out_;
};

}  // namespace

std::string harmless(std::string_view text) {
  std::string clean = printable(text);
  if (clean.size() <= kHarmlessBytes) return clean;
  return std::string{utf8::prefix(clean, kHarmlessBytes - kCut.size())} + std::string{kCut};
}

std::string harmless_json(std::string_view json) {
  Taming taming;
  taming.write(json);
  return std::move(taming).text();
}

}  // namespace sluice::mcp
