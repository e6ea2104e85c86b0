// Where an event goes on a message broker, written as `events.{type}`. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/envelope.hpp>
#include <sluice/result.hpp>

namespace sluice {

class AddressTemplate {
 public:
  /// Words in braces stand for the event's own: {type}, {source}, {target}, {workspace}, {generation}. The error names
  /// `field` and what is wrong.
  static Result<AddressTemplate> parse(std::string_view text, std::string_view field);

  /// An event without a target or workspace has `all` there. White space, `*`, `>` and control characters of the event
  /// become `_`: they would change where it goes.
  [[nodiscard]] std::string fill(const EventEnvelope& event, std::int64_t generation) const;

 private:
  enum class Part { text, type, source, target, workspace, generation };
  struct Piece {
    Part part = Part::text;
    std::string text;
  };
  std::vector<Piece> pieces_;
};

}  // namespace sluice
