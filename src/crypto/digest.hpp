// Digests, message authentication and their text forms; the only place that sees OpenSSL.
//
// Thread-safety: free functions without state.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::crypto {

using Sha256 = std::array<unsigned char, 32>;

Sha256 sha256(std::string_view data);
Sha256 hmac_sha256(std::string_view key, std::string_view data);

/// In constant time for inputs of one length: how much of two secrets agrees cannot be measured.
bool equal(std::string_view a, std::string_view b);
bool equal(const Sha256& a, const Sha256& b);

/// Lower case, two digits per byte.
std::string to_hex(std::string_view bytes);
std::string to_hex(const Sha256& digest);
/// Either case; none when it is not an even number of hexadecimal digits.
std::optional<std::string> from_hex(std::string_view text);

/// With padding.
std::string to_base64(std::string_view bytes);
std::string to_base64(const Sha256& digest);
/// The standard alphabet with padding; none for anything else.
std::optional<std::string> from_base64(std::string_view text);

/// Bytes that nobody can guess.
std::string random_bytes(std::size_t count);

}  // namespace sluice::crypto
