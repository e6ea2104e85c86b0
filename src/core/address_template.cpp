#include "core/address_template.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace sluice {
namespace {

constexpr std::array<std::string_view, 6> kParts{"", "type", "source", "target", "workspace", "generation"};
constexpr std::string_view kEverybody = "all";

std::string harmless(std::string_view text) {
  std::string word{text};
  for (char& c : word) {
    if (static_cast<unsigned char>(c) <= ' ' || c == '*' || c == '>' || c == 0x7F) c = '_';
  }
  return word;
}

}  // namespace

Result<AddressTemplate> AddressTemplate::parse(std::string_view text, std::string_view field) {
  const std::string name{field};
  if (text.empty()) return invalid(name, name + " must not be empty; write \"events.{type}\"");
  AddressTemplate made;
  while (!text.empty()) {
    const auto open = text.find_first_of("{}");
    if (open != 0) made.pieces_.push_back({Part::text, std::string{text.substr(0, open)}});
    if (open == std::string_view::npos) break;
    const auto close = text.find('}', open);
    if (text[open] == '}' || close == std::string_view::npos) {
      return invalid(name, name + " has a brace without its other half");
    }
    const std::string_view word = text.substr(open + 1, close - open - 1);
    const auto found = std::find(kParts.begin() + 1, kParts.end(), word);
    if (found == kParts.end()) {
      return invalid(name, name + " knows {type}, {source}, {target}, {workspace} and {generation}, not {" +
                               std::string{word} + "}");
    }
    made.pieces_.push_back({static_cast<Part>(found - kParts.begin()), {}});
    text.remove_prefix(close + 1);
  }
  return made;
}

std::string AddressTemplate::fill(const EventEnvelope& event, std::int64_t generation) const {
  std::string address;
  for (const Piece& piece : pieces_) {
    switch (piece.part) {
      case Part::text:
        address += piece.text;
        break;
      case Part::type:
        address += harmless(event.event_type());
        break;
      case Part::source:
        address += harmless(event.source());
        break;
      case Part::target:
        address += event.target() ? harmless(*event.target()) : std::string{kEverybody};
        break;
      case Part::workspace:
        address += event.workspace_id() ? event.workspace_id()->to_string() : std::string{kEverybody};
        break;
      case Part::generation:
        address += std::to_string(generation);
        break;
    }
  }
  return address;
}

}  // namespace sluice
