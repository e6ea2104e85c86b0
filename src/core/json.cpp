#include "core/json.hpp"

#include <set>
#include <utility>

#include "core/json_scanner.hpp"
#include "core/try.hpp"
#include "core/utf8.hpp"

namespace sluice::json {
namespace {

Error wrong_kind(std::string_view field, std::string_view expected) {
  const std::string name{field};
  return invalid(name, name + " must be a JSON " + std::string{expected});
}

}  // namespace

Result<Kind> check(std::string_view text, std::string_view field, const Limits& limits) {
  Scanner scanner{text, limits};
  if (!scanner.document()) return scanner.error(field);
  if (limits.stored_bytes > 0 && scanner.written_bytes() > limits.stored_bytes) {
    const std::string name{field};
    return invalid(name, name + " must be at most " + std::to_string(limits.stored_bytes) +
                             " bytes with its numbers written out, not " + std::to_string(scanner.written_bytes()));
  }
  return scanner.kind();
}

Result<std::vector<Member>> members(std::string_view object, std::string_view field, const Limits& limits) {
  Part whole;
  Scanner scanner{object, limits};
  if (!scanner.document(&whole)) return scanner.error(field);
  SLUICE_TRY(auto parts, members_of(std::move(whole), field));
  std::vector<Member> found;
  found.reserve(parts.size());
  for (Part& one : parts) found.push_back({std::move(one.name), one.value});
  return found;
}

Result<std::vector<std::string_view>> elements(std::string_view array, std::string_view field, const Limits& limits) {
  Part whole;
  Scanner scanner{array, limits};
  if (!scanner.document(&whole)) return scanner.error(field);
  SLUICE_TRY(const auto parts, elements_of(std::move(whole), field));
  std::vector<std::string_view> found;
  found.reserve(parts.size());
  for (const Part& one : parts) found.push_back(one.value);
  return found;
}

Result<Part> outline(std::string_view text, std::string_view field, Split split) {
  Part whole;
  Scanner scanner{text, {.depth = kMaxDepth, .measured = true}};
  if (!scanner.document(&whole, split)) return scanner.error(field);
  return whole;
}

Result<std::vector<Part>> members_of(Part object, std::string_view field) {
  if (object.measure.kind != Kind::object) return wrong_kind(field, "object");
  std::set<std::string_view> names;
  for (const Part& member : object.parts) {
    if (!names.insert(member.name).second) {
      const std::string name{field};
      return invalid(name, name + " has the member " + quote(member.name) + " twice");
    }
  }
  return std::move(object.parts);
}

Result<std::vector<Part>> elements_of(Part array, std::string_view field) {
  if (array.measure.kind != Kind::array) return wrong_kind(field, "array");
  return std::move(array.parts);
}

std::size_t bytes_read() { return bytes_read_here; }

Result<std::string> string_value(std::string_view raw, std::string_view field, const Limits& limits) {
  if (!raw.starts_with('"')) return wrong_kind(field, "string");
  std::string value;
  Scanner scanner{raw, limits};
  if (!scanner.only_string(value)) return scanner.error(field);
  return value;
}

namespace {

void append_escaped(std::string& out, char c) {
  constexpr std::string_view digits = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  const auto byte = static_cast<unsigned char>(c);
  out.append("\\u00").append(1, digits[byte >> 4]).append(1, digits[byte & 0xF]);
}

bool needs_escape(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7F || c == '"' || c == '\\';
}

}  // namespace

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8::length_at(text, at);
    if (length == 0) {
      out += utf8::kReplacement;
      ++at;
      continue;
    }
    if (needs_escape(text[at])) {
      append_escaped(out, text[at]);
    } else {
      out.append(text, at, length);
    }
    at += length;
  }
  out += '"';
}

std::string quote(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 2);
  append_quoted(out, text);
  return out;
}

}  // namespace sluice::json
