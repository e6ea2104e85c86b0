#include "alert/http/http_post.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <memory>
#include <string_view>

namespace sluice::alert {
namespace {

constexpr std::size_t kMostBody = std::size_t{4} * 1024;
constexpr std::size_t kMostHeaders = std::size_t{16} * 1024;
constexpr int kLongestPoll = 1'000;

template <class T, void (*Free)(T*)>
struct Freeing {
  void operator()(T* handle) const { Free(handle); }
};
using Headers = std::unique_ptr<curl_slist, Freeing<curl_slist, curl_slist_free_all>>;
using Easy = std::unique_ptr<CURL, Freeing<CURL, curl_easy_cleanup>>;
struct MultiFree {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};
using Multi = std::unique_ptr<CURLM, MultiFree>;

struct Reading {
  HttpAnswer answer;
  std::size_t header_bytes = 0;
};

std::string trimmed(std::string_view text) {
  const auto is_space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return std::string{text};
}

std::size_t on_header(char* data, std::size_t size, std::size_t count, void* user) {
  auto& reading = *static_cast<Reading*>(user);
  const std::string_view line{data, size * count};
  reading.header_bytes += line.size();
  if (reading.header_bytes > kMostHeaders) return 0;
  // A new status line, as after `100 Continue`: what came before is not the answer.
  if (line.starts_with("HTTP/")) reading.answer.headers.clear();
  if (const std::size_t colon = line.find(':'); colon != std::string_view::npos) {
    std::string name{line.substr(0, colon)};
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    reading.answer.headers.insert_or_assign(std::move(name), trimmed(line.substr(colon + 1)));
  }
  return line.size();
}

std::size_t on_body(char* data, std::size_t size, std::size_t count, void* user) {
  std::string& body = static_cast<Reading*>(user)->answer.body;
  const std::size_t kept = std::min(size * count, kMostBody - body.size());
  body.append(data, kept);
  return kept;  // less than was given ends the transfer
}

Headers header_list(const HttpRequest& request) {
  Headers list;
  for (const auto& [name, value] : request.headers) {
    curl_slist* longer = curl_slist_append(list.get(), (name + ": " + value).c_str());
    if (longer == nullptr) return nullptr;
    static_cast<void>(list.release());
    list.reset(longer);
  }
  return list;
}

// The proxy of the environment applies, as for every other program on the machine.
void prepare(CURL* easy, const HttpRequest& request, curl_slist* headers, Reading& reading, char* error) {
  curl_easy_setopt(easy, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.connect_timeout.count()));
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeout.count()));
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(easy, CURLOPT_POST, 1L);
  curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request.body.data());
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, &reading);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &reading);
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, error);
}

Error no_answer(ErrorCode code, const std::string& what) {
  return {code, Retry::safe, "no answer from the receiver: " + what, "", ""};
}

// None: a stop was asked for.
std::optional<CURLcode> transfer(CURLM* multi, const std::stop_token& stop) {
  const std::stop_callback wake{stop, [multi] { curl_multi_wakeup(multi); }};
  int running = 1;
  while (!stop.stop_requested()) {
    if (curl_multi_perform(multi, &running) != CURLM_OK) return CURLE_FAILED_INIT;
    if (running == 0) {
      int left = 0;
      const CURLMsg* message = curl_multi_info_read(multi, &left);
      return message == nullptr ? CURLE_FAILED_INIT : message->data.result;
    }
    if (curl_multi_poll(multi, nullptr, 0, kLongestPoll, nullptr) != CURLM_OK) return CURLE_FAILED_INIT;
  }
  return std::nullopt;
}

}  // namespace

Result<HttpAnswer> http_post(const HttpRequest& request, const std::stop_token& stop) {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  const Multi multi{curl_multi_init()};
  const Easy easy{curl_easy_init()};
  const Headers headers = header_list(request);
  if (ready != CURLE_OK || !multi || !easy || !headers) {
    return Error{ErrorCode::exhausted, Retry::safe, "the HTTP client could not be set up", "", ""};
  }
  Reading reading;
  std::array<char, CURL_ERROR_SIZE> error{};
  prepare(easy.get(), request, headers.get(), reading, error.data());
  curl_multi_add_handle(multi.get(), easy.get());
  const std::optional<CURLcode> ended = transfer(multi.get(), stop);
  long status = 0;
  curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &status);
  curl_multi_remove_handle(multi.get(), easy.get());
  if (!ended) return no_answer(ErrorCode::timeout, "stopped while waiting for it");
  reading.answer.status = static_cast<int>(status);
  // An answer that was cut off is an answer: its status has been read.
  const bool cut = *ended == CURLE_WRITE_ERROR && status >= 200 && reading.answer.body.size() == kMostBody;
  if (*ended == CURLE_OK || cut) return std::move(reading.answer);
  const std::string what = error.front() != '\0' ? error.data() : curl_easy_strerror(*ended);
  return no_answer(*ended == CURLE_OPERATION_TIMEDOUT ? ErrorCode::timeout : ErrorCode::unavailable, what);
}

}  // namespace sluice::alert
