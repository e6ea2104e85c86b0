#include "core/progress.hpp"

#include <charconv>

#include "core/json.hpp"

namespace sluice {
namespace {

void member(std::string& out, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  out += ',';
  json::append_quoted(out, name);
  out += ':';
  json::append_quoted(out, value);
}

Result<void> read(HandlerProgress& progress, const json::Member& member) {
  const auto text = [&](std::string& into) -> Result<void> {
    auto value = json::string_value(member.value, "progress");
    if (!value) return std::move(value).error();
    into = *std::move(value);
    return {};
  };
  if (member.name == "handler") return text(progress.handler_name);
  if (member.name == "last_error") return text(progress.last_error);
  if (member.name == "error_class") return text(progress.error_class);
  if (member.name == "fingerprint") return text(progress.fingerprint);
  if (member.name == "exhausted") progress.out_of_attempts = member.value == "true";
  if (member.name == "attempts") {
    std::from_chars(member.value.data(), member.value.data() + member.value.size(), progress.attempts);
  }
  if (member.name == "due") {
    std::string due;
    if (auto read_text = text(due); !read_text) return read_text;
    auto at = parse_iso8601(due, "progress");
    if (!at) return std::move(at).error();
    progress.due = *at;
  }
  return {};
}

}  // namespace

std::string progress_to_json(const std::vector<HandlerProgress>& progress) {
  if (progress.empty()) return {};
  std::string out = "[";
  for (const HandlerProgress& one : progress) {
    if (out.size() > 1) out += ',';
    out += R"({"handler":)";
    json::append_quoted(out, one.handler_name);
    out += R"(,"attempts":)" + std::to_string(one.attempts);
    out += R"(,"due":")" + to_iso8601(one.due) + '"';
    if (one.out_of_attempts) out += R"(,"exhausted":true)";
    member(out, "last_error", one.last_error);
    member(out, "error_class", one.error_class);
    member(out, "fingerprint", one.fingerprint);
    out += '}';
  }
  return out + ']';
}

Result<std::vector<HandlerProgress>> progress_from_json(std::string_view json) {
  std::vector<HandlerProgress> all;
  if (json.empty()) return all;
  const auto elements = json::elements(json, "progress");
  if (!elements) return elements.error();
  for (const std::string_view element : *elements) {
    const auto members = json::members(element, "progress");
    if (!members) return members.error();
    HandlerProgress one;
    for (const json::Member& each : *members) {
      if (auto done = read(one, each); !done) return std::move(done).error();
    }
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace sluice
