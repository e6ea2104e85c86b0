// The head of an answer as it is sent, and the chunks of one without an end. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "http/message.hpp"

namespace sluice::http {

struct HeadForm {
  bool keep_alive = true;
  bool chunked = false;
  bool endless = false;  ///< no Content-Length: the answer ends with the connection or the last chunk
};

/// Line breaks in header values become blanks: a value cannot begin another header.
std::string wire_head(const Response& response, const HeadForm& form);

/// `5\r\nhello\r\n`
std::string chunk(std::string_view piece);
/// What chunk() adds to a piece of this size.
std::size_t chunk_overhead(std::size_t bytes);

}  // namespace sluice::http
