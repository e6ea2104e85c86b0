// One HTTP POST; the only place that sees libcurl.
//
// Thread-safety: any number of threads may post.
#pragma once

#include <chrono>
#include <map>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <sluice/result.hpp>

namespace sluice::alert {

struct HttpRequest {
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::chrono::milliseconds connect_timeout{3'000};
  std::chrono::milliseconds timeout{10'000};  ///< for everything
};

struct HttpAnswer {
  int status = 0;
  std::map<std::string, std::string, std::less<>> headers;  ///< names in lower case
  std::string body;                                         ///< the first 4 KiB
};

/// Follows no redirect and reads no more of the answer than it keeps. An error means that no answer came;
/// it names the host and nothing else of the address.
Result<HttpAnswer> http_post(const HttpRequest& request, const std::stop_token& stop);

}  // namespace sluice::alert
