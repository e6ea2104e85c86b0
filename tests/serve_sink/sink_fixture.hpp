// An http sink in this process, and a receiver in one of its own.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/json.hpp"
#include "sink/http/http_sink.hpp"
#include "tests/delivery/child.hpp"
#include "tests/support/json_member.hpp"

namespace sluice::test {

using namespace std::chrono_literals;

/// See receiver.py for what it can be told.
class Receiver {
 public:
  explicit Receiver(const std::string& orders = "")
      : process_({"/usr/bin/env", "python3", SLUICE_SOURCE_DIR "/tests/serve_sink/receiver.py"}) {
    process_.write(orders + "ready\n");
    port_ = process_.read_line();
    // What nobody asks for must not fill the pipe.
    reading_ = std::jthread{[this] {
      for (std::string line = process_.read_line(); !line.empty(); line = process_.read_line()) keep(std::move(line));
    }};
  }
  ~Receiver() {
    process_.signal(SIGKILL);
    reading_.join();
  }
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;

  [[nodiscard]] std::string url(const std::string& host = "127.0.0.1") const {
    return "http://" + host + ':' + port_ + "/in?key=hush";
  }
  /// For the requests to come.
  void order(const std::string& lines) const { process_.write(lines); }
  /// The next request that came.
  std::string next() {
    std::unique_lock lock{mutex_};
    came_.wait(lock, [this] { return !requests_.empty(); });
    std::string request = std::move(requests_.front());
    requests_.pop_front();
    return request;
  }

 private:
  void keep(std::string request) {
    const std::lock_guard lock{mutex_};
    requests_.push_back(std::move(request));
    came_.notify_one();
  }

  Child process_;
  std::string port_;
  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<std::string> requests_;
  std::jthread reading_;
};

inline EventEnvelope numbered_event(int number) {
  EnvelopeDraft draft;
  draft.event_id = make_uuid_v7(Timestamp{1h}, {0, 0, 0, 0, 0, 0, 0, 0, static_cast<std::uint8_t>(number / 256),
                                                static_cast<std::uint8_t>(number % 256)});
  draft.event_type = "invoice.paid";
  draft.occurred_at = Timestamp{1h};
  draft.source = "billing";
  draft.payload = "{\"number\":" + std::to_string(number) + ",\"text\":\"Grün €\"}";
  return EventEnvelope::trusted(draft);
}

inline std::vector<EventEnvelope> numbered_events(int count) {
  std::vector<EventEnvelope> events;
  for (int number = 0; number < count; ++number) events.push_back(numbered_event(number));
  return events;
}

class HttpSinkTest : public testing::Test {
 protected:
  /// A sink that may connect to this machine.
  [[nodiscard]] static sink::HttpSinkOptions local(const Receiver& receiver) {
    sink::HttpSinkOptions options;
    options.name = "shop";
    options.url = receiver.url();
    options.allowed = {*Network::parse("127.0.0.1")};
    options.timeout = 60s;
    return options;
  }
  std::vector<Verdict> deliver(sink::Sink& sink, const std::vector<EventEnvelope>& events) {
    return sink.deliver(events, {"tests.shop", 1, std::vector<int>(events.size()), stop.get_token()});
  }
  Verdict deliver_one(sink::Sink& sink, int number = 0) { return deliver(sink, {numbered_event(number)}).at(0); }
  Verdict deliver_one(sink::HttpSinkOptions options) { return deliver_one(*sink::open_http_sink(std::move(options))); }

  std::stop_source stop;
};

}  // namespace sluice::test
