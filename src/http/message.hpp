// A request and its answer, apart from any server: values that tests make by hand, and how the head of an answer is
// sent.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sluice/result.hpp>

namespace sluice::http {

/// Names in lower case. A name that came twice has its values joined by ", ".
using Headers = std::map<std::string, std::string, std::less<>>;

struct Request {
  std::string method;  ///< `GET`
  std::string path;    ///< decoded segments joined by `/`, without the prefix: `/v1/events`
  std::map<std::string, std::string, std::less<>> query;  ///< decoded; a name that came twice is refused before
  Headers headers;
  std::string body;
  std::string peer;  ///< `127.0.0.1:51234`

  [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const;
  /// none: not given.
  [[nodiscard]] std::optional<std::string> parameter(std::string_view name) const;
};

/// Takes the pieces of an answer whose length is not known when it begins. Thread-safety: any thread.
class Stream {
 public:
  virtual ~Stream() = default;
  /// False: the peer is gone, or so slow that its pieces pile up; nothing more need be sent.
  virtual bool send(std::string piece) = 0;
  virtual void close() = 0;
};

struct Response {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers;  ///< Content-Length is the server's
  std::string body;
  /// Set: the answer has no length. Called once, after the head was sent; the pieces follow.
  std::function<void(std::shared_ptr<Stream>)> stream;

  Response& with(std::string name, std::string value) {
    headers.emplace_back(std::move(name), std::move(value));
    return *this;
  }
};

/// `Not Found`
std::string_view reason_phrase(int status);

Response json_response(int status, std::string body);
/// RFC 9457: the status follows from the error's code; `code`, `field`, `hint` and `retry` are members.
Response problem(const Error& error);
/// For what no Error says: 401, 405, 413, 415, 429…
Response problem(int status, std::string_view code, std::string_view detail);

/// Answers a request, now or later, exactly once and from any thread.
using Respond = std::function<void(Response)>;

// What a body is, by its Content-Type. Pure.

/// In lower case and without parameters: `application/json`; empty when there is none.
std::string media_type(const Request& request);

// The head of an answer as it is sent, and the chunks of one without an end. Pure.

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
