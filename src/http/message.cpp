#include "http/message.hpp"

#include "core/json_object.hpp"

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

Response problem_response(int status, JsonObject members) {
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
  return problem_response(status, std::move(members));
}

Response problem(int status, std::string_view code, std::string_view detail) {
  return problem_response(status, head(status, code, detail));
}

}  // namespace sluice::http
