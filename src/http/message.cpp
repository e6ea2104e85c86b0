#include "http/message.hpp"

#include <array>
#include <charconv>

#include "core/characters.hpp"
#include "core/json_object.hpp"
#include "core/words.hpp"

namespace sluice::http {
namespace {

int status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid:
      return 400;
    case ErrorCode::not_found:
      return 404;
    case ErrorCode::forbidden:
      return 403;
    case ErrorCode::conflict:
      return 409;
    case ErrorCode::exhausted:
    case ErrorCode::unavailable:
    case ErrorCode::read_only:
      return 503;
    case ErrorCode::timeout:
      return 504;
    case ErrorCode::schema:
    case ErrorCode::corrupt:
    case ErrorCode::internal:
      break;
  }
  return 500;
}

Response problem_response(int status, const JsonObject& members) {
  Response response{status, {}, members.str(), {}};
  response.with("Content-Type", "application/problem+json");
  if (status == 429 || status == 503) response.with("Retry-After", "1");
  return response;
}

JsonObject head(int status, std::string_view code, std::string_view detail) {
  return JsonObject{}
      .text("type", "about:blank")
      .text("title", reason_phrase(status))
      .number("status", status)
      .text("code", code)
      .text("detail", detail);
}

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

std::optional<std::string_view> Request::header(std::string_view name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? std::nullopt : std::optional<std::string_view>{found->second};
}

std::optional<std::string> Request::parameter(std::string_view name) const {
  const auto found = query.find(name);
  return found == query.end() ? std::nullopt : std::optional{found->second};
}

std::string_view reason_phrase(int status) {
  static const std::map<int, std::string_view> phrases{{200, "OK"},
                                                       {201, "Created"},
                                                       {202, "Accepted"},
                                                       {204, "No Content"},
                                                       {304, "Not Modified"},
                                                       {400, "Bad Request"},
                                                       {401, "Unauthorized"},
                                                       {403, "Forbidden"},
                                                       {404, "Not Found"},
                                                       {405, "Method Not Allowed"},

                                                       {409, "Conflict"},
                                                       {411, "Length Required"},
                                                       {413, "Content Too Large"},
                                                       {415, "Unsupported Media Type"},
                                                       {417, "Expectation Failed"},
                                                       {421, "Misdirected Request"},
                                                       {429, "Too Many Requests"},
                                                       {431, "Request Header Fields Too Large"},
                                                       {500, "Internal Server Error"},
                                                       {501, "Not Implemented"},
                                                       {503, "Service Unavailable"},
                                                       {504, "Gateway Timeout"},
                                                       {505, "HTTP Version Not Supported"}};
  const auto found = phrases.find(status);
  return found == phrases.end() ? "Unknown" : found->second;
}

Response json_response(int status, std::string body) {
  Response response{status, {}, std::move(body), {}};
  response.with("Content-Type", "application/json");
  return response;
}

Response problem(const Error& error) {
  const int status = status_of(error.code);
  JsonObject members = head(status, name(error.code), error.message);
  if (!error.field.empty()) members.text("field", error.field);
  if (!error.hint.empty()) members.text("hint", error.hint);
  members.text("retry", name(error.retry));
  return problem_response(status, members);
}

Response problem(int status, std::string_view code, std::string_view detail) {
  return problem_response(status, head(status, code, detail));
}

std::string media_type(const Request& request) {
  std::string type;
  for (const char c : request.header("content-type").value_or("")) {
    if (c == ';') break;
    if (c != ' ' && c != '\t') type += lower_case(c);
  }
  return type;
}

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
