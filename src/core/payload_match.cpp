#include "core/payload_match.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <span>

#include "core/json.hpp"
#include "core/words.hpp"

namespace sluice {
namespace {

constexpr std::string_view kRoot = "data";
constexpr json::Limits kStored{.depth = json::kMaxDepth};
// What people look for is short; a longer one may be beyond the range of a database's numbers.
constexpr std::size_t kMostNumberBytes = 64;
constexpr std::int64_t kMostExponent = 1000;

/// 0.DIGITS times ten to the exponent, without zeros at either end.
struct Decimal {
  bool negative = false;
  std::string digits;
  std::int64_t exponent = 0;

  bool operator==(const Decimal&) const = default;
};

std::optional<Decimal> decimal_of(std::string_view number) {
  Decimal decimal;
  if (number.starts_with('-')) {
    decimal.negative = true;
    number.remove_prefix(1);
  }
  const std::size_t power = number.find_first_of("eE");
  if (power != std::string_view::npos) {
    std::string_view text = number.substr(power + 1);
    if (text.starts_with('+')) text.remove_prefix(1);
    const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), decimal.exponent);
    if (problem != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
  }
  const std::string_view mantissa = number.substr(0, power);
  const std::size_t dot = std::min(mantissa.find('.'), mantissa.size());
  decimal.exponent += static_cast<std::int64_t>(dot);
  std::copy_if(mantissa.begin(), mantissa.end(), std::back_inserter(decimal.digits), [](char c) { return c != '.'; });
  const std::size_t first = decimal.digits.find_first_not_of('0');
  if (first == std::string::npos) return Decimal{};
  decimal.exponent -= static_cast<std::int64_t>(first);
  decimal.digits = decimal.digits.substr(first, decimal.digits.find_last_not_of('0') - first + 1);
  return decimal;
}

bool is_value(std::string_view raw, const PayloadTerm& term, const std::optional<std::string>& scalar) {
  if (raw.starts_with('"')) {
    const auto text = json::string_value(raw, "payload");
    return text && *text == term.value;
  }
  if (!scalar || raw.starts_with('{')) return false;
  return raw == *scalar || same_number(raw, *scalar);
}

/// `unwrapped`: it is an element of an array, whose own elements are not tried.
bool has(std::string_view raw, std::span<const std::string> path, const PayloadTerm& term,
         const std::optional<std::string>& scalar, bool unwrapped) {
  if (raw.starts_with('[')) {
    if (unwrapped) return false;
    const auto elements = json::elements(raw, "payload", kStored);
    return elements && std::any_of(elements->begin(), elements->end(),
                                   [&](std::string_view element) { return has(element, path, term, scalar, true); });
  }
  if (path.empty()) return is_value(raw, term, scalar);
  if (!raw.starts_with('{')) return false;
  const auto members = json::members(raw, "payload", kStored);
  return members && std::any_of(members->begin(), members->end(), [&](const json::Member& member) {
           return member.name == path.front() && has(member.value, path.subspan(1), term, scalar, false);
         });
}

}  // namespace

std::optional<std::string> scalar_of(const PayloadTerm& term) {
  if (term.only_text || term.value.size() > kMostNumberBytes) return std::nullopt;
  const auto kind = json::check(term.value, "payload");
  const bool exact = kind && term.value.find_first_of(" \t\r\n") == std::string::npos;
  if (!exact) return std::nullopt;
  if (*kind == json::Kind::boolean || *kind == json::Kind::null) return term.value;
  if (*kind != json::Kind::number) return std::nullopt;
  const auto decimal = decimal_of(term.value);
  if (!decimal || decimal->exponent > kMostExponent || decimal->exponent < -kMostExponent) return std::nullopt;
  return term.value;
}

bool same_number(std::string_view one, std::string_view other) {
  const auto is_number = [](std::string_view text) {
    return !text.empty() && (text.front() == '-' || (text.front() >= '0' && text.front() <= '9'));
  };
  if (!is_number(one) || !is_number(other)) return false;
  const auto first = decimal_of(one);
  return first && first == decimal_of(other);
}

bool payload_has(std::string_view payload, const PayloadTerm& term) {
  const std::size_t begin = payload.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return false;
  return has(payload.substr(begin), term.path, term, scalar_of(term), false);
}

std::string name_of(const PayloadTerm& term) {
  std::string name{kRoot};
  for (const std::string& part : term.path) {
    const bool plain = !part.empty() && part.front() != '"' && part.find_first_of(".: \t\r\n") == std::string::npos;
    name += '.' + (plain ? part : in_quotes(part));
  }
  return name;
}

std::optional<std::vector<std::string>> path_of(std::string_view name) {
  if (!name.starts_with(kRoot)) return std::nullopt;
  std::vector<std::string> path;
  for (name.remove_prefix(kRoot.size()); name.starts_with('.');) {
    name.remove_prefix(1);
    std::optional<std::string> part;
    if (name.starts_with('"')) {
      part = take_quoted(name);
    } else if (const std::size_t end = std::min(name.find('.'), name.size()); end > 0) {
      part = name.substr(0, end);
      name.remove_prefix(end);
    }
    if (!part) return std::nullopt;
    path.push_back(std::move(*part));
  }
  if (path.empty() || !name.empty()) return std::nullopt;
  return path;
}

}  // namespace sluice
