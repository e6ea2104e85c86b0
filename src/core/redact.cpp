#include "core/redact.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "core/characters.hpp"
#include "core/json.hpp"

namespace sluice {
namespace {

constexpr std::string_view kMask = "***";
constexpr std::array<std::string_view, 2> kSecretWords{"password", "sslpassword"};

// As libpq takes a connection string apart.
bool is_gap(char c) { return is_space(c) || c == '\v' || c == '\f'; }

bool is_secret_word(std::string_view word) {
  for (const std::string_view secret : kSecretWords) {
    if (word == secret) return true;
  }
  return false;
}

// Where a keyword value ends: libpq quotes with ' and escapes with a backslash.
std::size_t end_of_value(std::string_view text, std::size_t at) {
  const bool quoted = at < text.size() && text[at] == '\'';
  if (quoted) ++at;
  while (at < text.size()) {
    if (text[at] == '\\') {
      at = std::min(at + 2, text.size());
    } else if (quoted && text[at] == '\'') {
      return at + 1;
    } else if (!quoted && is_gap(text[at])) {
      return at;
    } else {
      ++at;
    }
  }
  return at;
}

std::string redact_keywords(std::string_view text) {
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    if (is_gap(text[at])) {
      out += text[at++];
      continue;
    }
    const std::size_t word_start = at;
    while (at < text.size() && text[at] != '=' && !is_gap(text[at])) ++at;
    const std::string_view word = text.substr(word_start, at - word_start);
    out += word;
    // White space around the equals sign is allowed.
    while (at < text.size() && is_gap(text[at])) out += text[at++];
    if (at == text.size() || text[at] != '=') continue;
    out += text[at++];
    while (at < text.size() && is_gap(text[at])) out += text[at++];
    const std::size_t end = end_of_value(text, at);
    out += is_secret_word(word) ? kMask : text.substr(at, end - at);
    at = end;
  }
  return out;
}

std::string redact_query(std::string_view query) {
  std::string out;
  std::size_t at = 0;
  while (at < query.size()) {
    const std::size_t end = std::min(query.find('&', at), query.size());
    const std::string_view pair = query.substr(at, end - at);
    const std::size_t equals = pair.find('=');
    if (equals != std::string_view::npos && is_secret_word(pair.substr(0, equals))) {
      out += pair.substr(0, equals + 1);
      out += kMask;
    } else {
      out += pair;
    }
    if (end < query.size()) out += '&';
    at = end + 1;
  }
  return out;
}

std::string redact_url(std::string_view url, std::size_t authority) {
  const std::size_t question = std::min(url.find('?', authority), url.size());
  const std::size_t slash = url.find('/', authority);
  // A raw '/' or '@' in a password is not valid, but people paste them: the last '@' before the
  // query ends the user part, so that such a password is still hidden.
  std::size_t at = url.substr(0, question).rfind('@');
  if (at != std::string_view::npos && at < authority) at = std::string_view::npos;
  std::string out;
  if (at == std::string_view::npos) {
    out = url.substr(0, question);
  } else {
    const std::size_t colon = url.substr(0, at).find(':', authority);
    const bool has_password = colon != std::string_view::npos && (slash > colon || slash > at);
    out = url.substr(0, has_password ? colon + 1 : at);
    if (has_password) out += kMask;
    out += url.substr(at, question - at);
  }
  if (question < url.size()) {
    out += '?';
    out += redact_query(url.substr(question + 1));
  }
  return out;
}

}  // namespace

std::string redact_dsn(std::string_view dsn) {
  for (const std::string_view scheme : {std::string_view{"postgres://"}, std::string_view{"postgresql://"}}) {
    if (dsn.starts_with(scheme)) return redact_url(dsn, scheme.size());
  }
  if (const std::size_t scheme = dsn.find("://"); scheme != std::string_view::npos && dsn.find('=') > scheme) {
    return redact_url(dsn, scheme + 3);
  }
  if (dsn.starts_with("sqlite:")) return std::string{dsn};
  return redact_keywords(dsn);
}

std::string redact_address(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return std::string{kMask};
  const std::size_t authority = scheme + 3;
  // The last '@' of everything: a pasted password may hold a raw '/' or '?'.
  const std::size_t user = url.rfind('@');
  const std::size_t host = user == std::string_view::npos || user < authority ? authority : user + 1;
  const std::size_t end = std::min(url.find_first_of("/?#", host), url.size());
  return std::string{url.substr(0, authority)} + std::string{url.substr(host, end - host)} + '/' + std::string{kMask};
}

namespace {

constexpr std::string_view kField = "payload";

std::string folded(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (c == '_' || c == '-') continue;
    plain += lower_case(c);
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
