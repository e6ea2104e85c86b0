// A handler's transaction: effect, dedup row and settle in one, on a connection of the pool.
#include <algorithm>

#include "core/try.hpp"
#include "store/postgres/postgres_settle.hpp"
#include "store/postgres/postgres_statement.hpp"
#include "store/postgres/postgres_store_impl.hpp"

namespace sluice::store {
namespace {

using Element = pq::Params::Element;

class PostgresEffect final : public EffectTransaction {
 public:
  PostgresEffect(PostgresStore& store, pq::Pool::Lease lease) : store_(store), lease_(std::move(lease)) {}

  ~PostgresEffect() override {
    // A connection that is broken or in a failed transaction does not go back to the pool either way.
    if (open_) static_cast<void>(lease_->script("rollback").has_value());
    for (const BatchesSettling& batches : settling_) store_.settle_failed(batches);
  }

  Result<void> begin(Duration longest_idle) {
    const auto limit = std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::milliseconds>(longest_idle).count());
    Result<void> begun = lease_->script(
        "begin; set local idle_in_transaction_session_timeout = " + std::to_string(limit), pq::Effect::read);
    open_ = begun.has_value();
    return begun;
  }

  Result<std::vector<Entered>> enter(std::string_view handler_name, std::span<const Entry> entries) override {
    SLUICE_CHECK(still_open());
    if (!entries.empty() && entries.front().claim.claim_seq == 0) return enter_relayed(handler_name, entries);
    pq::Params params;
    params.text(handler_name);
    std::vector<const ClaimRef*> claims;
    claims.reserve(entries.size());
    for (const Entry& entry : entries) claims.push_back(&entry.claim);
    add_places(params, claims);
    {
      pq::Params::Array ids = params.array(Element::uuid);
      for (const Entry& entry : entries) ids.uuid(entry.claim.event_id);
    }
    {
      pq::Params::Array claim_seqs = params.array(Element::int8);
      for (const Entry& entry : entries) claim_seqs.int8(entry.claim.claim_seq);
    }
    {
      pq::Params::Array keys = params.array(Element::text);
      for (const Entry& entry : entries) keys.text(std::string_view{entry.idempotency_key});
    }
    SLUICE_TRY(const pq::Rows rows, lease_->run(inside(pg_sql::effect_enter), params));
    if (rows.empty()) return std::vector<Entered>(entries.size(), Entered::fresh);
    return answers(rows);
  }

  StatementOutcome statement(std::string_view sql, std::span<const std::optional<std::string>> params) override {
    if (auto open = still_open(); !open) return StatementError{std::move(open).error(), {}};
    return lease_->statement(sql, params);
  }

  Result<void> mark() override {
    SLUICE_CHECK(still_open());
    // Released, not stacked: many open subtransactions slow down every snapshot of the server.
    const std::string_view text = std::exchange(marked_, true)
                                      ? "release savepoint sluice_effect; savepoint sluice_effect"
                                      : "savepoint sluice_effect";
    return lease_->script(text, pq::Effect::read);
  }
  Result<void> undo_to_mark() override {
    return lease_->script("rollback to savepoint sluice_effect", pq::Effect::read);
  }

  Result<SettleReport> settle(std::span<const SettleItem> items, std::optional<RegistryVersion> based_on) override {
    SLUICE_CHECK(still_open());
    if (items.empty()) return SettleReport{};
    const auto run = [&](const pg_sql::Query& query, const pq::Params& params) {
      return lease_->run(inside(query), params);
    };
    // Settled when the transaction is committed, and not before.
    settling_.push_back(store_.begin_settle(items));
    SLUICE_TRY(Settled settled, settle_by(run, items, {settling_.back().finished, based_on, true}));
    next_.add(settled.next);
    return std::move(settled.report);
  }

  Result<void> commit() override {
    SLUICE_CHECK(still_open());
    open_ = false;
    Result<void> committed = lease_->commit();
    if (!committed) return committed;
    store_.remember(next_);
    std::vector<std::int64_t> closing;
    for (const BatchesSettling& batches : std::exchange(settling_, {})) {
      const auto left = store_.settle_succeeded(batches);
      closing.insert(closing.end(), left.begin(), left.end());
    }
    if (!closing.empty()) {
      pq::Params params;
      add_numbers(params, closing);
      // If this fails, the reaper forgets them when their time has run out.
      static_cast<void>(lease_->run(writing(pg_sql::claims_close), params).has_value());
    }
    return committed;
  }

  [[nodiscard]] NativeTransaction native() const override { return {.postgres = lease_.native()}; }

 private:
  static std::vector<Entered> answers(const pq::Rows& rows) {
    return pq::collect(rows, [&](int row) {
      const std::string_view entered = rows.text(row, 0);
      return entered == "fresh" ? Entered::fresh : entered == "handled" ? Entered::handled : Entered::fenced;
    });
  }

  Result<std::vector<Entered>> enter_relayed(std::string_view handler_name, std::span<const Entry> entries) {
    pq::Params params;
    params.text(handler_name);
    {
      pq::Params::Array ids = params.array(Element::uuid);
      for (const Entry& entry : entries) ids.uuid(entry.claim.event_id);
    }
    {
      pq::Params::Array keys = params.array(Element::text);
      for (const Entry& entry : entries) keys.text(std::string_view{entry.idempotency_key});
    }
    SLUICE_TRY(const pq::Rows rows, lease_->run(inside(pg_sql::effect_enter_relayed), params));
    return answers(rows);
  }

  // A handler that ended the transaction tore its effect from the dedup row; nothing may follow.
  Result<void> still_open() const {
    if (open_ && lease_->in_transaction()) return {};
    return Error{ErrorCode::conflict,
                 Retry::safe,
                 "the transaction of the effect has failed or ended: nothing more can be done in it",
                 {},
                 "leave begin, commit and rollback to the listener"};
  }

  // Nothing is in doubt before the commit: a lost connection undoes it all.
  static pq::Statement inside(const pg_sql::Query& query) { return {query.name, query.text, pq::Effect::read}; }

  PostgresStore& store_;
  mutable pq::Pool::Lease lease_;
  bool open_ = false;
  bool marked_ = false;
  std::vector<BatchesSettling> settling_;
  EventNumbers next_;  // of keys that the commit releases
};

}  // namespace

Result<std::unique_ptr<EffectTransaction>> PostgresStore::begin_effect(Duration longest_idle) {
  SLUICE_TRY(pq::Pool::Lease lease, pool_.lease());
  auto effect = std::make_unique<PostgresEffect>(*this, std::move(lease));
  SLUICE_CHECK(effect->begin(longest_idle));
  return std::unique_ptr<EffectTransaction>{std::move(effect)};
}

}  // namespace sluice::store
