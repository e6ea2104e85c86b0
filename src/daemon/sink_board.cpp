#include "daemon/sink_board.hpp"

#include <algorithm>
#include <utility>

#include "core/try.hpp"
#include "host/entropy.hpp"
#include "ops/sinks.hpp"
#include "runtime/service.hpp"

namespace sluice::daemon {

Timestamp StoreClock::now() const {
  const std::lock_guard lock{mutex_};
  if (!at_) return host::wall_clock();
  return *at_ + std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - heard_);
}

void StoreClock::heard(Timestamp at, Steady asked, Steady answered) {
  const std::lock_guard lock{mutex_};
  at_ = at;
  heard_ = asked + (answered - asked) / 2;
}

std::function<Timestamp()> SinkBoard::clock() const {
  return [clock = clock_] { return clock->now(); };
}

Result<void> SinkBoard::set_clock() {
  const auto asked = std::chrono::steady_clock::now();
  SLUICE_TRY(const auto now, parts_.store.now());
  clock_->heard(now, asked, std::chrono::steady_clock::now());
  return {};
}

Result<void> SinkBoard::put_up(Sinks sinks, const std::map<std::string, std::vector<std::string>>& served) {
  const std::lock_guard turn{turn_};
  declared_.clear();
  for (const auto& [name, sink] : sinks) {
    const sink::SinkStatus status = sink->status();
    const auto handlers = served.find(name);
    declared_.push_back(
        {name, status.kind, status.target, handlers == served.end() ? std::vector<std::string>{} : handlers->second});
  }
  SLUICE_CHECK(parts_.store.declare_sinks(declared_));
  {
    const std::lock_guard lock{mutex_};
    sinks_ = std::move(sinks);
  }
  return sync_locked();
}

Result<void> SinkBoard::sync() {
  const std::lock_guard turn{turn_};
  return sync_locked();
}

Result<void> SinkBoard::sync_locked() {
  Sinks sinks;
  {
    const std::lock_guard lock{mutex_};
    sinks = sinks_;
  }
  // What was learnt here first: what is read afterwards is not older than it.
  for (const auto& [name, sink] : sinks) send_news(name, *sink);
  const auto asked = std::chrono::steady_clock::now();
  SLUICE_TRY(const auto records, parts_.store.sinks());
  clock_->heard(records.now, asked, std::chrono::steady_clock::now());
  std::size_t found = 0;
  for (const store::SinkRecord& record : records.sinks) {
    const auto sink = sinks.find(record.declared.name);
    if (sink == sinks.end()) continue;
    ++found;
    note_changes(record);
    if (!unsent_.contains(record.declared.name)) sink->second->follow({record.state, record.open_until});
  }
  if (found == sinks.size()) return {};
  return parts_.store.declare_sinks(declared_);
}

void SinkBoard::report(const std::string& name) {
  const auto sink = find(name);
  if (!sink || !sink->has_news()) return;
  const std::lock_guard turn{turn_};
  send_news(name, *sink);
}

void SinkBoard::send_news(const std::string& name, sink::Sink& sink) {
  std::vector<sink::SinkNews> news;
  if (auto earlier = unsent_.extract(name)) news = std::move(earlier.mapped());
  for (sink::SinkNews& one : sink.take_news()) news.push_back(std::move(one));
  for (std::size_t at = 0; at < news.size(); ++at) {
    const auto sent = send(name, news[at]);
    if (sent) continue;
    runtime::log_error(parts_.logger, "cannot tell the store about sink " + name + "; trying again", sent.error());
    news.erase(news.begin(), news.begin() + static_cast<std::ptrdiff_t>(at));
    unsent_.emplace(name, std::move(news));
    return;
  }
}

Result<void> SinkBoard::send(const std::string& name, const sink::SinkNews& news) {
  const store::Actor self{parts_.identity, "daemon", news.reason};
  const auto tell = [&]() -> Result<store::SinkRecord> {
    switch (news.what) {
      case sink::SinkNews::What::gone:
        return parts_.store.switch_sink(name, SinkSwitch::disabled, self);
      case sink::SinkNews::What::circuit_opened:
        return parts_.store.move_circuit(name, news.open_for, self);
      case sink::SinkNews::What::circuit_closed:
        break;
    }
    return parts_.store.move_circuit(name, std::nullopt, self);
  };
  auto told = tell();
  if (!told && told.error().code == ErrorCode::not_found) {
    SLUICE_CHECK(parts_.store.declare_sinks(declared_));
    told = tell();
  }
  if (!told) return std::move(told).error();
  note_changes(*told);
  return {};
}

void SinkBoard::note_changes(const store::SinkRecord& record) {
  const auto known = seen_.find(record.declared.name);
  const bool took = known == seen_.end() || known->second.takes_deliveries();
  const bool moved = known == seen_.end() || known->second.state != record.state ||
                     known->second.opened_at.has_value() != record.opened_at.has_value();
  seen_.insert_or_assign(record.declared.name, record);
  if (!moved) return;
  if (!record.takes_deliveries()) {
    parts_.logger.warn("sink takes no deliveries", {{"sink", record.declared.name}, {"why", ops::why_stopped(record)}});
  } else if (!took) {
    parts_.logger.info("sink takes deliveries again",
                       {{"sink", record.declared.name}, {"actor", record.changed_by}, {"reason", record.reason}});
    if (parts_.resumed) parts_.resumed();
  }
}

std::shared_ptr<sink::Sink> SinkBoard::find(const std::string& name) const {
  const std::lock_guard lock{mutex_};
  const auto found = sinks_.find(name);
  return found == sinks_.end() ? nullptr : found->second;
}

}  // namespace sluice::daemon
