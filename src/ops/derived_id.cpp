#include "ops/derived_id.hpp"

#include <algorithm>

#include "core/utf8.hpp"
#include "crypto/digest.hpp"

namespace sluice::ops {
namespace {

constexpr std::size_t kKeyMaxBytes = 255;

// With its length in front no two lists of parts read the same.
void append_part(std::string& text, std::string_view part) {
  text.append(std::to_string(part.size())).append(":").append(part);
}

}  // namespace

Uuid derived_id(std::string_view kind, const ForeignName& name) {
  std::string text;
  append_part(text, kind);
  append_part(text, name.sender);
  append_part(text, name.id);
  const crypto::Sha256 digest = crypto::sha256(text);
  Uuid id;
  std::copy_n(digest.begin(), id.bytes.size(), id.bytes.begin());
  id.bytes[6] = static_cast<std::uint8_t>((id.bytes[6] & 0x0FU) | 0x80U);
  id.bytes[8] = static_cast<std::uint8_t>((id.bytes[8] & 0x3FU) | 0x80U);
  return id;
}

std::string derived_key(const ForeignName& name) {
  std::string key{name.sender};
  key.append(" ").append(name.id);
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  const bool fits = key.size() <= kKeyMaxBytes && utf8::is_valid(key) &&
                    std::none_of(key.begin(), key.end(), is_control) && name.sender.find(' ') == std::string_view::npos;
  return fits ? key : std::string{};
}

}  // namespace sluice::ops
