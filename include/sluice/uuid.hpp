// Uuid: a 16-byte value. Event ids are version 7, so that keys made later sort later and append to
// the right-hand edge of the primary-key index.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include <sluice/result.hpp>
#include <sluice/time.hpp>

namespace sluice {

struct Uuid {
  std::array<std::uint8_t, 16> bytes{};

  auto operator<=>(const Uuid&) const = default;  // NOLINT(modernize-use-nullptr): a defaulted comparison has none
  [[nodiscard]] bool is_nil() const { return bytes == std::array<std::uint8_t, 16>{}; }
  /// The version nibble: 7 for ids made here, whatever the publisher chose otherwise.
  [[nodiscard]] int version() const { return bytes[6] >> 4; }

  /// 36 characters, lower case.
  [[nodiscard]] std::string to_string() const;

  /// Accepts the 36-character form in either case; `field` names the input in the error.
  static Result<Uuid> parse(std::string_view text, std::string_view field = "uuid");
};

/// RFC 9562 version 7 from a point in time and ten random bytes. Pure: the caller owns clock and
/// randomness.
Uuid make_uuid_v7(Timestamp at, const std::array<std::uint8_t, 10>& random);

/// Version 7 ids that never go backwards within one source: ids of the same millisecond, or of a
/// clock that stepped back, count up in the 12 bits after the timestamp. Not thread-safe.
class UuidV7Sequence {
 public:
  Uuid next(Timestamp at, const std::array<std::uint8_t, 10>& random);

 private:
  std::int64_t last_ms_ = -1;
  std::uint32_t counter_ = 0;
};

}  // namespace sluice
