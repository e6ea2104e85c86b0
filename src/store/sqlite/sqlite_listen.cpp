#include <algorithm>
#include <atomic>
#include <chrono>

#include "core/try.hpp"
#include "store/sqlite/sqlite_store.hpp"
#include "store/sqlite/sqlite_store_impl.hpp"

namespace sluice::store::sqlite {
namespace {

// How soon a commit of another process is noticed: nobody tells, so the listener looks.
constexpr Duration kLookEvery = std::chrono::milliseconds{50};

/// Hears its own process at once through the bell, and everybody else by looking at the file.
class SqliteListener final : public ListenerConnection {
 public:
  static Result<std::unique_ptr<ListenerConnection>> open(std::unique_ptr<Connection> connection,
                                                          std::shared_ptr<Bell> bell) {
    std::unique_ptr<SqliteListener> listener{new SqliteListener(std::move(connection), std::move(bell))};
    SLUICE_CHECK(listener->look());
    return std::unique_ptr<ListenerConnection>{std::move(listener)};
  }

  Result<Heard> wait(Duration at_most) override {
    const auto deadline = std::chrono::steady_clock::now() + at_most;
    for (;;) {
      // Read before the scan: a commit is in the file before it notifies, so that whatever did so up to here
      // is seen by this look and not told a second time by the next.
      const std::uint64_t notified = bell_->notifications();
      SLUICE_TRY(auto changed, look());
      if (std::exchange(heard_, notified) != notified || changed) return Heard::notification;
      if (probed_.exchange(false)) return Heard::echo;
      if (interrupted_.exchange(false)) return Heard::nothing;
      const auto left = std::chrono::duration_cast<Duration>(deadline - std::chrono::steady_clock::now());
      if (left <= Duration::zero()) return Heard::nothing;
      bell_->wait(std::min(left, kLookEvery),
                  [this](std::uint64_t now) { return now != heard_ || interrupted_ || probed_; });
    }
  }

  Result<void> probe() override {
    probed_ = true;
    bell_->nudge();
    return {};
  }

  void attend(bool) override {}

  void interrupt() override {
    interrupted_ = true;
    bell_->nudge();
  }

  Result<void> wake_others() override {
    bell_->notify();
    return {};
  }

  [[nodiscard]] std::string obstacle() const override { return {}; }

 private:
  SqliteListener(std::unique_ptr<Connection> connection, std::shared_ptr<Bell> bell)
      : connection_(std::move(connection)), bell_(std::move(bell)), heard_(bell_->notifications()) {}

  /// Whether another connection has committed since the last time. Those of this process count as well:
  /// its settles cost one check in vain, after which the file stays as it is.
  Result<bool> look() {
    SLUICE_TRY(auto version, connection_->first(sql::data_version, {}, [](Row& row) { return row.integer(); }));
    return std::exchange(seen_, version.value_or(0)) != seen_;
  }

  std::unique_ptr<Connection> connection_;
  std::shared_ptr<Bell> bell_;
  std::uint64_t heard_;
  std::int64_t seen_ = 0;
  std::atomic<bool> probed_ = false;
  std::atomic<bool> interrupted_ = false;
};

}  // namespace

Result<std::unique_ptr<ListenerConnection>> SqliteStore::listen(const std::vector<std::string>&) {
  SLUICE_TRY(auto connection, database_->open_another());
  return SqliteListener::open(std::move(connection), bell_);
}

Result<DoorbellMode> SqliteStore::doorbell() { return DoorbellMode::always; }

Result<void> SqliteStore::set_doorbell(DoorbellMode, const Actor&) {
  return Error{ErrorCode::invalid, Retry::never, "an embedded store has no doorbell mode: a publish always notifies",
               "mode", "doorbell modes exist on PostgreSQL only"};
}

}  // namespace sluice::store::sqlite

namespace sluice::store {

void notify_listeners(const std::string& path) { sqlite::Bell::of(path)->notify(); }

}  // namespace sluice::store
