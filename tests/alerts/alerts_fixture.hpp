// A process whose handler fails, with alerts over HTTP, and receivers in processes of their own.
#pragma once

#include <gtest/gtest.h>
#include <memory>
#include <string>

#include "alert/http/http_channels.hpp"
#include "runtime/alerts.hpp"
#include "store/sqlite/sqlite_store.hpp"
#include "tests/delivery/child.hpp"
#include "tests/delivery/delivery_fixture.hpp"
#include "tests/support/json_member.hpp"
#include "tests/support/temp_dir.hpp"

namespace sluice::test {

class AlertingProcess {
 public:
  explicit AlertingProcess(const alert::HttpChannelSettings& settings, Duration last_moment = 3s) {
    store::SqliteOptions sqlite;
    sqlite.path = directory_.file("sluice.db");
    auto opened = store::open_sqlite(sqlite);
    if (!opened) throw std::runtime_error(opened.error().message);
    runtime::AlertsOptions options;
    options.post.attempts = 1'000;
    options.post.backoff = {1ms, 10ms};
    options.last_moment = last_moment;
    options.random = [] { return std::array<std::uint8_t, 10>{1}; };
    alerts_ = std::make_unique<runtime::Alerts>(alert::open_http_channels(settings), **opened, telemetry::Logger{},
                                                std::move(options));
    alerts_->start();
    runtime::SupervisorOptions delivering = patient_options("alerts:1");
    delivering.on_failed = [this](FailureNotice notice) { alerts_->offer(std::move(notice)); };
    process_ = std::make_unique<DeliveringProcess>(*std::move(opened), handlers(), std::move(delivering));
  }
  ~AlertingProcess() { stop(); }

  /// Fails with this message; an event of another type is delivered.
  Uuid fail(const std::string& message) {
    EnvelopeDraft draft = a_draft("test.failing");
    draft.payload = R"({"message":")" + message + R"(","secret":"of the payload"})";
    return publish(an_event(draft));
  }
  Uuid publish(store::NewEvent event) {
    const Uuid id = publish_one(process_->store(), std::move(event));
    (*process_)->wake();
    return id;
  }
  void await(const Uuid& event, Status status) {
    eventually([&] {
      const auto found = process_->store().get_event(event);
      return found && found->status == status;
    });
  }
  void stop() {
    process_->stop();
    alerts_->stop();
  }
  [[nodiscard]] runtime::AlertStatus status() const { return alerts_->status(); }

 private:
  static std::vector<runtime::RegisteredHandler> handlers() {
    const auto handle = [](const EventEnvelope& event) {
      if (event.event_type() == "test.failing") throw TerminalError{member(event.payload(), "message")};
    };
    return {{.subscription = {.handler_name = "test.handler"}, .handler = handle, .retry = quick_retry()}};
  }

  TempDir directory_;
  std::unique_ptr<runtime::Alerts> alerts_;
  std::unique_ptr<DeliveringProcess> process_;
};

}  // namespace sluice::test
