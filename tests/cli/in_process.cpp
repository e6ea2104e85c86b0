#include "tests/cli/in_process.hpp"

#include <sstream>

namespace sluice::test {
namespace {

class ScriptedInterruption final : public cli::Interruption {
 public:
  explicit ScriptedInterruption(std::deque<bool>& script) : script_(script) {}
  void arm() override {}
  bool wait_for(Duration) override {
    if (script_.empty()) return true;
    const bool stop = script_.front();
    script_.pop_front();
    return stop;
  }

 private:
  std::deque<bool>& script_;
};

class RecordingDaemon final : public cli::Daemon {
 public:
  explicit RecordingDaemon(std::vector<std::string>& log) : log_(log) { log_.emplace_back("started"); }
  void stop() override { log_.emplace_back("stopped"); }

 private:
  std::vector<std::string>& log_;
};

}  // namespace

CommandLine::CommandLine() : environment{{"HOME", "/nonexistent"}, {"USER", "alice"}} {}

Answer CommandLine::operator()(std::vector<std::string> words) {
  std::istringstream in{input};
  std::ostringstream out;
  std::ostringstream err;
  cli::Console console{in, out, err, terminal, terminal, false};
  cli::Adapters adapters;
  adapters.open_store = [this](const cli::OpenRequest& request) -> Result<std::unique_ptr<store::Store>> {
    opened.push_back(request);
    if (open_error) return *open_error;
    if (!store_exists && !request.create) {
      return Error{ErrorCode::not_found, Retry::never, "there is no store", "", ""};
    }
    return std::unique_ptr<store::Store>{std::make_unique<FakeStore>(data)};
  };
  adapters.start_daemon = [this](const cli::DaemonRequest&) -> Result<std::unique_ptr<cli::Daemon>> {
    if (daemon_error) return *daemon_error;
    return std::unique_ptr<cli::Daemon>{std::make_unique<RecordingDaemon>(daemon_log)};
  };
  adapters.migrations = [](config::StoreUrl::Kind kind) {
    auto texts = FakeStore::texts();
    if (kind == config::StoreUrl::Kind::postgres) texts.front().sql = "create schema core;";
    return texts;
  };
  adapters.interruption = std::make_shared<ScriptedInterruption>(interruptions);
  adapters.entropy = {[this] { return data.now; }, [this] { return std::array<std::uint8_t, 10>{++random_}; }};
  const auto exit = cli::run({std::move(words), environment, "box"}, console, adapters);
  return {exit, out.str(), err.str()};
}

}  // namespace sluice::test
