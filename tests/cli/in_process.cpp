#include "tests/cli/in_process.hpp"

#include <sstream>
#include <utility>

#include "core/try.hpp"
#include "store/postgres/postgres_store.hpp"
#include "store/sqlite/sqlite_store.hpp"
#include "tests/support/faulty_store.hpp"

namespace sluice::test {
namespace {

class ScriptedInterruption final : public cli::Interruption {
 public:
  ScriptedInterruption(std::deque<bool>& script, std::deque<std::function<void()>>& meanwhile)
      : script_(script), meanwhile_(meanwhile) {}
  void arm() override {}
  bool wait_for(Duration) override {
    if (!meanwhile_.empty()) {
      meanwhile_.front()();
      meanwhile_.pop_front();
    }
    if (script_.empty()) return true;
    const bool stop = script_.front();
    script_.pop_front();
    return stop;
  }

 private:
  std::deque<bool>& script_;
  std::deque<std::function<void()>>& meanwhile_;
};

class RecordingDaemon final : public cli::Daemon {
 public:
  RecordingDaemon(std::vector<std::string>& log, std::string url) : log_(log), url_(std::move(url)) {
    log_.emplace_back("started");
  }
  [[nodiscard]] std::string url() const override { return url_; }
  Result<void> reload(const config::Config&) override {
    log_.emplace_back("reloaded");
    return {};
  }
  void stop() override { log_.emplace_back("stopped"); }

 private:
  std::vector<std::string>& log_;
  std::string url_;
};

class FakeChannel final : public alert::AlertChannel {
 public:
  FakeChannel(std::string name, const std::function<Result<alert::Sent>(const Alert&)>& receiver)
      : name_(std::move(name)), receiver_(receiver) {}
  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::string display() const override { return "https://" + name_ + ".example/***"; }
  Result<alert::Sent> send(const Alert& alert, const std::stop_token&) override {
    if (receiver_) return receiver_(alert);
    return Error{ErrorCode::unavailable, Retry::safe, "no answer from the receiver", "", ""};
  }

 private:
  std::string name_;
  const std::function<Result<alert::Sent>(const Alert&)>& receiver_;
};

}  // namespace

CommandLine::CommandLine(EmbeddedStore::Start start)
    : store(start, ".local/share/sluice/sluice.db"), environment{{"HOME", store.folder()}, {"USER", "alice"}} {}

Result<std::unique_ptr<store::Store>> CommandLine::open(const cli::OpenRequest& request) {
  opened.push_back(request);
  if (open_error) return *open_error;
  if (request.url.kind != config::StoreUrl::Kind::sqlite) {
    return Error{ErrorCode::unavailable, Retry::safe, "these tests run without a server", "store", ""};
  }
  store::SqliteOptions options;
  options.path = request.url.location;
  options.create = request.create;
  options.auto_migrate = request.needs_schema;
  options.clock = [this] { return store.now; };
  auto real = store::open_sqlite(options);
  if (!real || failures.empty()) return real;
  auto faulty = std::make_unique<FaultyStore>(*std::move(real));
  for (const auto& [verb, error] : failures) faulty->fail_verb(verb, error);
  return std::unique_ptr<store::Store>{std::move(faulty)};
}

Answer CommandLine::operator()(std::vector<std::string> words) {
  std::istringstream in{input};
  std::ostringstream out;
  std::ostringstream err;
  cli::Console console{in, out, err, terminal, terminal, false};
  cli::Adapters adapters;
  adapters.open_store = [this](const cli::OpenRequest& request) -> Result<std::unique_ptr<store::Administering>> {
    SLUICE_TRY(auto whole, open(request));
    return std::unique_ptr<store::Administering>{std::move(whole)};
  };
  adapters.open_whole = [this](const cli::OpenRequest& request) -> Result<cli::WholeStore> {
    SLUICE_TRY(std::shared_ptr<store::Store> whole, open(request));
    return cli::WholeStore{whole, *whole};
  };
  adapters.start_daemon = [this](const cli::DaemonRequest&) -> Result<std::unique_ptr<cli::Daemon>> {
    if (daemon_error) return *daemon_error;
    return std::unique_ptr<cli::Daemon>{std::make_unique<RecordingDaemon>(daemon_log, daemon_url)};
  };
  adapters.migrations = [](config::StoreUrl::Kind kind) {
    return kind == config::StoreUrl::Kind::sqlite ? store::sqlite_migrations() : store::postgres_migrations();
  };
  adapters.interruption = std::make_shared<ScriptedInterruption>(interruptions, meanwhile);
  adapters.entropy = {[this] { return store.now; }, [this] { return std::array<std::uint8_t, 10>{++random_}; }};
  adapters.alert_channels = [this](const config::Config& config) {
    std::vector<std::unique_ptr<alert::AlertChannel>> channels;
    if (config.alerts.sentry) channels.push_back(std::make_unique<FakeChannel>("sentry", receiver));
    if (config.alerts.webhook_url) channels.push_back(std::make_unique<FakeChannel>("webhook", receiver));
    return channels;
  };
  adapters.try_sink = [this](const config::Config&, const std::string& name,
                             const EventEnvelope&) -> Result<ops::Trial> {
    if (trial) return trial(name);
    return Error{ErrorCode::not_found, Retry::never, "the configuration declares no sink " + name, "NAME", ""};
  };
  adapters.open_broker = [](const config::Config&) -> Result<std::unique_ptr<broker::Broker>> {
    return std::unique_ptr<broker::Broker>{};
  };
  const auto exit = cli::run({std::move(words), environment, "box"}, console, adapters);
  return {exit, out.str(), err.str()};
}

}  // namespace sluice::test
