#include "http_client/http_client.hpp"

#include <signal.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "http_client/transfer.hpp"

namespace sluice::http_client {
namespace {

constexpr std::chrono::seconds kLongest = std::chrono::hours{24};

// `Wed, 21 Oct 2026 07:28:00 GMT`, by position.
std::optional<Timestamp> parse_http_date(std::string_view text) {
  constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  if (text.size() != 29 || !text.ends_with(" GMT")) return std::nullopt;
  const auto month = std::find(kMonths.begin(), kMonths.end(), text.substr(8, 3));
  if (month == kMonths.end()) return std::nullopt;
  const std::string number = std::to_string(101 + (month - kMonths.begin())).substr(1);
  const auto part = [&](std::size_t from, std::size_t length) { return std::string{text.substr(from, length)}; };
  const auto parsed = parse_iso8601(part(12, 4) + '-' + number + '-' + part(5, 2) + 'T' + part(17, 8) + 'Z');
  return parsed ? std::optional{*parsed} : std::nullopt;
}

}  // namespace

std::string_view name(NoAnswer reason) {
  switch (reason) {
    case NoAnswer::timeout:
      return "timeout";
    case NoAnswer::connection_refused:
      return "connection_refused";
    case NoAnswer::unreachable:
      return "unreachable";
    case NoAnswer::name:
      return "unknown_host";
    case NoAnswer::tls:
      return "tls";
    case NoAnswer::connection_lost:
      return "connection_lost";
    case NoAnswer::ssrf_refused:
      return "ssrf_refused";
    case NoAnswer::too_large:
      return "answer_too_large";
    case NoAnswer::stopped:
      return "stopped";
  }
  return "connection_lost";
}

std::optional<std::string_view> Answer::header(std::string_view lower_name) const {
  const auto found = headers.find(lower_name);
  if (found == headers.end()) return std::nullopt;
  return found->second;
}

std::optional<Duration> parse_delay_seconds(std::string_view text) {
  std::int64_t seconds = 0;
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, seconds);
  if (problem == std::errc::result_out_of_range) return kLongest;
  if (problem != std::errc{} || stop != end || seconds < 0) return std::nullopt;
  return std::chrono::seconds{std::min<std::int64_t>(seconds, kLongest.count())};
}

std::optional<Duration> parse_retry_after(std::string_view text, Timestamp now) {
  if (const auto seconds = parse_delay_seconds(text)) return seconds;
  const auto date = parse_http_date(text);
  if (!date) return std::nullopt;
  return std::clamp(std::chrono::duration_cast<Duration>(*date - now), Duration::zero(), Duration{kLongest});
}

/// The exchanges of one run().
struct Batch {
  std::size_t left = 0;  // guarded by the loop's mutex
  std::condition_variable done;
  std::atomic<bool> stopped = false;
};

namespace {

constexpr std::chrono::milliseconds kLongestStep{1'000};

// OpenSSL may write to a connection that is gone.
void block_sigpipe() {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

class SinglePost final : public Exchange {
 public:
  explicit SinglePost(std::string_view body) : body_(body) {}
  [[nodiscard]] const std::vector<std::string>& headers() const override { return headers_; }
  [[nodiscard]] std::string_view body() const override { return body_; }

 private:
  std::vector<std::string> headers_;
  std::string_view body_;
};

}  // namespace

std::optional<std::string> AddressGuard::refusal(const IpAddress& address) const {
  const AddressKind kind = kind_of(address);
  if (kind == AddressKind::global) return std::nullopt;
  if (std::any_of(allowed_.begin(), allowed_.end(), [&](const auto& network) { return network.contains(address); })) {
    return std::nullopt;
  }
  const std::string text = address.to_string();
  return text + " is a " + std::string{name(kind)} + " address; if it is meant, add it to the sink: allow = [\"" +
         text + "\"]";
}

class HttpClient::Loop {
 public:
  explicit Loop(HttpClientOptions options) : options_(std::move(options)) {
    static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
    multi_ = curl_multi_init();
    assert(ready == CURLE_OK && multi_ != nullptr);
    const auto most = static_cast<long>(options_.concurrency);
    curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, most);
    curl_multi_setopt(multi_, CURLMOPT_MAX_TOTAL_CONNECTIONS, most);
    curl_multi_setopt(multi_, CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_NOTHING));
    watch_.emplace(multi_);
    fixed_.assign(options_.headers, nullptr);
    thread_ = std::jthread{[this](const std::stop_token& stop) { drive(stop); }};
  }
  ~Loop() {
    thread_.request_stop();
    watch_->wake();
    thread_.join();
    transfers_.clear();
    watch_.reset();
    curl_multi_cleanup(multi_);
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void run(std::span<Exchange* const> exchanges, const std::stop_token& stop) {
    if (exchanges.empty()) return;
    Batch batch;
    batch.left = exchanges.size();
    std::unique_lock lock{mutex_};
    for (Exchange* exchange : exchanges) arrived_.push_back({exchange, &batch});
    watch_->wake();
    // After they have arrived: a stop of before would be forgotten by the time they come.
    const std::stop_callback on_stop{stop, [&] {
                                       batch.stopped = true;
                                       some_stopped_ = true;
                                       watch_->wake();
                                     }};
    batch.done.wait(lock, [&batch] { return batch.left == 0; });
  }

 private:
  struct Job {
    Exchange* exchange;
    Batch* batch;
  };

  void drive(const std::stop_token& stop) {
    block_sigpipe();
    while (!stop.stop_requested()) {
      take_arrived();
      if (some_stopped_.exchange(false)) abandon_stopped();
      begin_waiting();
      report_over();  // those that may not begin
      watch_->step(kLongestStep);
      end_finished();
      report_over();
    }
  }

  void take_arrived() {
    const std::lock_guard lock{mutex_};
    waiting_.insert(waiting_.end(), arrived_.begin(), arrived_.end());
    arrived_.clear();
  }

  void abandon_stopped() {
    std::deque<Job> still;
    for (const Job& job : waiting_) (job.batch->stopped ? over_ : still).push_back(job);
    waiting_ = std::move(still);
    for (const auto& transfer : transfers_) {
      if (!transfer->active() || !transfer->batch().stopped) continue;
      transfer->abandon();
      release(*transfer);
    }
  }

  void begin_waiting() {
    while (!waiting_.empty() && active_ < options_.concurrency) {
      const Job job = waiting_.front();
      if (!job.exchange->may_begin()) {
        waiting_.pop_front();
        over_.push_back(job);
        continue;
      }
      waiting_.pop_front();
      Transfer& transfer = free_transfer();
      transfer.begin(*job.exchange, *job.batch);
      ++active_;
      curl_multi_add_handle(multi_, transfer.handle());
    }
  }

  void end_finished() {
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      const CURLcode code = message->data.result;
      void* self = nullptr;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &self);
      auto& transfer = *static_cast<Transfer*>(self);
      transfer.end(code);
      release(transfer);
    }
  }

  // One lock for all that ended in this round.
  void report_over() {
    if (over_.empty()) return;
    const std::lock_guard lock{mutex_};
    for (const Job& job : over_) {
      // Under the lock: the batch is gone as soon as its owner sees zero.
      if (--job.batch->left == 0) job.batch->done.notify_one();
    }
    over_.clear();
  }

  Transfer& free_transfer() {
    if (free_.empty()) {
      transfers_.push_back(std::make_unique<Transfer>(options_, fixed_.head()));
      free_.push_back(transfers_.back().get());
    }
    Transfer& transfer = *free_.back();
    free_.pop_back();
    return transfer;
  }

  void release(Transfer& transfer) {
    curl_multi_remove_handle(multi_, transfer.handle());
    transfer.exchange().ended();
    over_.push_back({&transfer.exchange(), &transfer.batch()});
    transfer.clear();
    --active_;
    free_.push_back(&transfer);
  }

  HttpClientOptions options_;
  HeaderChain fixed_;
  CURLM* multi_ = nullptr;
  std::optional<SocketWatch> watch_;

  std::mutex mutex_;
  std::deque<Job> arrived_;  // guarded
  std::atomic<bool> some_stopped_ = false;

  // Of the thread:
  std::deque<Job> waiting_;
  std::deque<Job> over_;
  std::vector<std::unique_ptr<Transfer>> transfers_;
  std::vector<Transfer*> free_;
  int active_ = 0;
  std::jthread thread_;  // last: it uses the others
};

HttpClient::HttpClient(HttpClientOptions options) : loop_(std::make_unique<Loop>(std::move(options))) {}
HttpClient::~HttpClient() = default;

void HttpClient::run(std::span<Exchange* const> exchanges, const std::stop_token& stop) { loop_->run(exchanges, stop); }

Answer HttpClient::post(std::string_view body, const std::stop_token& stop) {
  SinglePost exchange{body};
  Exchange* const only = &exchange;
  run({&only, 1}, stop);
  if (!exchange.begun) {
    exchange.answer.reason = NoAnswer::stopped;
    exchange.answer.detail = "stopped before it was sent";
  }
  return std::move(exchange.answer);
}

}  // namespace sluice::http_client
