#include "http/wire_head.hpp"

#include <array>
#include <charconv>

namespace sluice::http {
namespace {

void append_header(std::string& head, std::string_view name, std::string_view value) {
  head.append(name).append(": ");
  for (const char c : value) head += c == '\r' || c == '\n' ? ' ' : c;
  head += "\r\n";
}

std::string hex(std::size_t number) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16).ptr;
  return {digits.data(), end};
}

}  // namespace

std::string wire_head(const Response& response, const HeadForm& form) {
  std::string head = "HTTP/1.1 " + std::to_string(response.status) + ' ';
  head += reason_phrase(response.status);
  head += "\r\n";
  for (const auto& [name, value] : response.headers) append_header(head, name, value);
  const bool bodiless = response.status == 204 || response.status == 304;
  if (form.chunked) {
    append_header(head, "Transfer-Encoding", "chunked");
  } else if (!form.endless && !bodiless) {
    append_header(head, "Content-Length", std::to_string(response.body.size()));
  }
  if (!form.keep_alive) append_header(head, "Connection", "close");
  head += "\r\n";
  return head;
}

std::string chunk(std::string_view piece) {
  std::string text = hex(piece.size());
  text.append("\r\n").append(piece).append("\r\n");
  return text;
}

std::size_t chunk_overhead(std::size_t bytes) { return hex(bytes).size() + 4; }

}  // namespace sluice::http
