// Answers as gzip, for clients that take it. Pure.
//
// What is compressed together with text of a stranger's choosing can be guessed from its length (BREACH). So only
// answers to GET are compressed, and none of these carries a secret: tokens come in a header and are never sent back,
// addresses and configuration are shown without passwords.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::http {

/// Less fits into one packet anyway.
inline constexpr std::size_t kLeastGzipped = 1400;
/// More would keep a thread busy for too long; no page of heads comes near it.
inline constexpr std::size_t kMostGzipped = std::size_t{16} * 1024 * 1024;

/// Whether an Accept-Encoding asks for it: `gzip`, `x-gzip` or `*`, and not with `q=0`.
bool accepts_gzip(std::string_view accept_encoding);

/// None: it would not be smaller.
std::optional<std::string> gzip(std::string_view text);

}  // namespace sluice::http
