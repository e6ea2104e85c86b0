#include <sluice/uuid.hpp>

#include <algorithm>

#include "core/characters.hpp"

namespace sluice {

namespace {

constexpr std::uint32_t kCounterMax = 0xFFF;
// A new millisecond starts in the lower half of the counter: room for 2048 ids before it overflows.
constexpr std::uint32_t kCounterSeedMask = 0x7FF;

constexpr bool is_dash_position(std::size_t at) { return at == 8 || at == 13 || at == 18 || at == 23; }

std::int64_t unix_ms(Timestamp at) {
  const auto ms = std::chrono::floor<std::chrono::milliseconds>(at.time_since_epoch()).count();
  return std::max<std::int64_t>(ms, 0);
}

std::uint32_t first_twelve_bits(const std::array<std::uint8_t, 10>& random) {
  return (std::uint32_t{random[0]} << 8 | random[1]) & kCounterMax;
}

Uuid compose(std::int64_t ms, std::uint32_t rand_a, const std::array<std::uint8_t, 10>& random) {
  Uuid id;
  for (std::size_t i = 0; i < 6; ++i) {
    id.bytes[i] = static_cast<std::uint8_t>(static_cast<std::uint64_t>(ms) >> (40 - 8 * i));
  }
  id.bytes[6] = static_cast<std::uint8_t>(0x70 | rand_a >> 8);
  id.bytes[7] = static_cast<std::uint8_t>(rand_a);
  std::copy(random.begin() + 2, random.end(), id.bytes.begin() + 8);
  id.bytes[8] = static_cast<std::uint8_t>(0x80 | (id.bytes[8] & 0x3F));
  return id;
}

}  // namespace

std::string Uuid::to_string() const {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(36);
  for (const std::uint8_t byte : bytes) {
    if (is_dash_position(text.size())) text += '-';
    text += digits[byte >> 4];
    text += digits[byte & 0xF];
  }
  return text;
}

Result<Uuid> Uuid::parse(std::string_view text, std::string_view field) {
  const auto refuse = [field] {
    return invalid(std::string{field},
                   std::string{field} + " must be a uuid of 36 characters, like 01890a5d-ac96-774b-bcce-b302099a8057");
  };
  if (text.size() != 36) return refuse();
  Uuid id;
  std::size_t nibble = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (is_dash_position(at)) {
      if (text[at] != '-') return refuse();
      continue;
    }
    const int value = hex_value(text[at]);
    if (value < 0) return refuse();
    std::uint8_t& byte = id.bytes[nibble / 2];
    byte = static_cast<std::uint8_t>(byte << 4 | value);
    ++nibble;
  }
  return id;
}

Uuid make_uuid_v7(Timestamp at, const std::array<std::uint8_t, 10>& random) {
  return compose(unix_ms(at), first_twelve_bits(random), random);
}

Uuid UuidV7Sequence::next(Timestamp at, const std::array<std::uint8_t, 10>& random) {
  const std::int64_t ms = unix_ms(at);
  if (ms > last_ms_) {
    last_ms_ = ms;
    counter_ = first_twelve_bits(random) & kCounterSeedMask;
  } else if (counter_ < kCounterMax) {
    ++counter_;
  } else {
    ++last_ms_;
    counter_ = first_twelve_bits(random) & kCounterSeedMask;
  }
  return compose(last_ms_, counter_, random);
}

}  // namespace sluice
