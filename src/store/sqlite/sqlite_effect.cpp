#include "core/try.hpp"
#include "store/sqlite/sqlite_settle.hpp"
#include "store/sqlite/sqlite_statement.hpp"
#include "store/sqlite/sqlite_store_impl.hpp"

namespace sluice::store::sqlite {
namespace {

/// The write transaction of the store, lent to a handler: nobody else writes to the file meanwhile.
class SqliteEffect final : public EffectTransaction {
 public:
  SqliteEffect(WriteTransaction transaction, std::shared_ptr<Bell> bell, std::function<Timestamp()> clock,
               std::int64_t boot)
      : transaction_(std::move(transaction)), bell_(std::move(bell)), clock_(std::move(clock)), boot_(boot) {}

  Result<std::vector<Entered>> enter(std::string_view handler_name, std::span<const Entry> entries) override {
    SLUICE_CHECK(still_open());
    std::vector<Entered> entered;
    entered.reserve(entries.size());
    for (const Entry& entry : entries) {
      SLUICE_TRY(auto each, enter_one(handler_name, entry));
      entered.push_back(each);
    }
    return entered;
  }

  StatementOutcome statement(std::string_view sql, std::span<const std::optional<std::string>> params) override {
    if (auto open = still_open(); !open) return StatementError{std::move(open).error(), {}};
    return run_statement(connection().handle(), sql, params);
  }

  Result<void> mark() override {
    SLUICE_CHECK(still_open());
    if (auto marked =
            connection().script(marked_ ? "release effect_mark; savepoint effect_mark" : "savepoint effect_mark");
        !marked) {
      return marked;
    }
    marked_ = true;
    return {};
  }

  Result<void> undo_to_mark() override {
    SLUICE_CHECK(still_open());
    if (!marked_) return invalid("mark", "there is no mark to return to: call mark() first");
    return connection().script("rollback to effect_mark");
  }

  Result<SettleReport> settle(std::span<const SettleItem> items, std::optional<RegistryVersion> based_on) override {
    SLUICE_CHECK(still_open());
    return settle_on(connection(), {items, based_on, clock_(), boot_});
  }

  Result<void> commit() override {
    SLUICE_CHECK(still_open());
    SLUICE_CHECK(transaction_.commit());
    over_ = true;
    // The handler may have published, and the settle may have given events back.
    bell_->notify();
    return {};
  }

  [[nodiscard]] NativeTransaction native() const override {
    return {.sqlite = over_ ? nullptr : connection().handle()};
  }

 private:
  [[nodiscard]] Connection& connection() const { return transaction_.connection(); }

  /// Without a transaction each statement would commit by itself, and the effect would be torn from its
  /// dedup row. SQLite ends a transaction by itself on some failures, and a handler could.
  Result<void> still_open() const {
    if (!over_ && connection().in_transaction()) return {};
    return Error{ErrorCode::conflict,
                 Retry::safe,
                 "the transaction of the effect has ended: nothing more can be done in it",
                 {},
                 "leave begin, commit and rollback to the listener"};
  }

  Result<Entered> enter_one(std::string_view handler_name, const Entry& entry) {
    if (entry.claim.claim_seq == 0) return record(handler_name, entry);
    SLUICE_TRY(auto held, connection().first(sql::holds_claim,
                                             {{":id", entry.claim.event_id}, {":claim_seq", entry.claim.claim_seq}},
                                             [](Row& row) { return row.integer(); }));
    if (!held || is_of_another_boot(entry.claim, boot_)) return Entered::fenced;
    return record(handler_name, entry);
  }

  Result<Entered> record(std::string_view handler_name, const Entry& entry) {
    auto recorded = record_handled(connection(), {std::string{handler_name}, entry.idempotency_key},
                                   entry.claim.event_id, clock_());
    if (!recorded) return std::move(recorded).error();
    return *recorded ? Entered::fresh : Entered::handled;
  }

  WriteTransaction transaction_;
  std::shared_ptr<Bell> bell_;
  std::function<Timestamp()> clock_;
  std::int64_t boot_;
  bool marked_ = false;
  bool over_ = false;
};

}  // namespace

Result<std::unique_ptr<EffectTransaction>> SqliteStore::begin_effect(Duration /*longest_idle*/) {
  SLUICE_TRY(auto transaction, database_->begin_write());
  return std::unique_ptr<EffectTransaction>{
      std::make_unique<SqliteEffect>(std::move(transaction), bell_, clock_, boot_)};
}

}  // namespace sluice::store::sqlite
