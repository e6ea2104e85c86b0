#include "cli/table.hpp"

#include <algorithm>
#include <cassert>
#include <cctype>
#include <cstddef>
#include <numeric>
#include <ostream>

#include "cli/session.hpp"
#include "core/try.hpp"
#include "ops/event_query.hpp"
#include "ops/schema.hpp"

namespace sluice::cli {
namespace {

// Code points, which is the width of what event data usually holds.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string padded(const std::string& text, std::size_t to) {
  const std::size_t used = width(text);
  return used < to ? text + std::string(to - used, ' ') : text;
}

constexpr std::size_t kGap = 2;
constexpr std::size_t kLeast = 8;     // of a column, however narrow the terminal
constexpr std::size_t kIdWidth = 36;  // of a UUID

std::string shortened(const std::string& text, std::size_t to) {
  if (width(text) <= to) return text;
  std::size_t bytes = 0;
  for (std::size_t left = to; bytes < text.size(); ++bytes) {
    const bool begins = (static_cast<unsigned char>(text[bytes]) & 0xC0U) != 0x80U;
    if (begins && left-- == 1) break;
  }
  return text.substr(0, bytes) + "…";
}

// The widest column gives way first; one of ids, which people copy, when nothing else is left.
void fit(std::vector<std::size_t>& widths, std::size_t into) {
  const auto used = [&] { return std::accumulate(widths.begin(), widths.end(), (widths.size() - 1) * kGap); };
  for (const bool ids : {false, true}) {
    while (used() > into) {
      const auto weight = [&](std::size_t one) { return !ids && one == kIdWidth ? std::size_t{0} : one; };
      const auto widest = std::max_element(widths.begin(), widths.end(),
                                           [&](std::size_t a, std::size_t b) { return weight(a) < weight(b); });
      if (weight(*widest) <= kLeast) break;
      --*widest;
      // A column of text that comes by this width is no column of ids.
      if (!ids && *widest == kIdWidth) --*widest;
    }
  }
}

std::string line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) {
  std::string out;
  for (std::size_t column = 0; column < cells.size(); ++column) {
    const bool last = column + 1 == cells.size();
    const std::string cell = shortened(cells[column], widths[column]);
    out += last ? cell : padded(cell, widths[column]) + std::string(kGap, ' ');
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return out;
}

}  // namespace

Table::Table(std::initializer_list<std::string_view> headers) : headers_(headers.begin(), headers.end()) {}

void Table::row(std::vector<std::string> cells) {
  assert(cells.size() == headers_.size());
  for (std::string& cell : cells) cell = printable(cell);
  rows_.push_back({std::move(cells), {}});
}

void Table::note(const std::string& text) {
  assert(!rows_.empty());
  rows_.back().notes.push_back(printable(text));
}

void Table::print(const Console& console) const { print(console.out, console.color, console.width); }

void Table::print(std::ostream& out, bool color, std::size_t into) const {
  std::vector<std::size_t> widths;
  for (const std::string& header : headers_) widths.push_back(width(header));
  for (const auto& [cells, notes] : rows_) {
    for (std::size_t column = 0; column < cells.size(); ++column) {
      widths[column] = std::max(widths[column], width(cells[column]));
    }
  }
  if (into > 0) fit(widths, into);
  const std::string head = line(headers_, widths);
  out << (color ? "\033[1m" + head + "\033[0m" : head) << '\n';
  for (const auto& [cells, notes] : rows_) {
    out << line(cells, widths) << '\n';
    for (const std::string& note : notes) out << "    " << note << '\n';
  }
}

void print_pairs(std::ostream& out, const std::vector<std::pair<std::string_view, std::string>>& pairs) {
  std::size_t longest = 0;
  for (const auto& [name, value] : pairs) longest = value.empty() ? longest : std::max(longest, name.size());
  for (const auto& [name, value] : pairs) {
    if (value.empty()) continue;
    out << "  " << padded(std::string{name}, longest) << "  " << printable(value) << '\n';
  }
}

Result<Timestamp> parse_since(std::string_view text, std::string_view flag, store::Administering& store) {
  SLUICE_TRY(const auto now, ops::now(store));
  if (const auto at = ops::parse_when(text, now)) return *at;
  return invalid(std::string{flag}, std::string{flag} + ": `" + std::string{text} +
                                        "` is neither a duration like 2h nor a time like 2026-04-25T01:43:02Z");
}

std::string clock_text(Timestamp at) {
  std::string text = to_iso8601(at);
  const std::size_t milliseconds = text.size() - 4;
  text = text.substr(0, milliseconds) + 'Z';
  std::replace(text.begin(), text.end(), 'T', ' ');
  return text;
}

std::string age_text(Timestamp at, Timestamp now) {
  using namespace std::chrono;
  const auto age = std::max(floor<seconds>(now - at), seconds{0});
  if (age < minutes{1}) return std::to_string(age.count()) + 's';
  if (age < hours{1}) return std::to_string(floor<minutes>(age).count()) + 'm';
  if (age < days{1}) return std::to_string(floor<hours>(age).count()) + 'h';
  return std::to_string(floor<days>(age).count()) + 'd';
}

}  // namespace sluice::cli
