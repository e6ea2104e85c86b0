// What an operator changes of one event.
#include <algorithm>

#include "core/json_object.hpp"
#include "core/try.hpp"
#include "core/words.hpp"
#include "store/sqlite/query_params.hpp"
#include "store/sqlite/sqlite_records.hpp"
#include "store/sqlite/sqlite_settle.hpp"
#include "store/sqlite/sqlite_store_impl.hpp"

namespace sluice::store::sqlite {
namespace {

Error conflict(const EventRecord& event, const std::string& what) {
  return Error{
      ErrorCode::conflict, Retry::never, "event " + event.envelope.event_id().to_string() + " " + what, {}, {}};
}

Error in_wrong_state(const EventRecord& event, Status wanted, std::string_view verb) {
  return conflict(event, "is " + std::string{name(event.status)} + ": only a " + std::string{name(wanted)} +
                             " event can be " + std::string{verb});
}

Result<void> must_wait(const EventRecord& event, std::string_view verb) {
  if (event.deleted_at) {
    return conflict(
        event, event.status == Status::pending ? "is cancelled: restore it first" : "is discarded: restore it first");
  }
  if (event.status == Status::in_flight) {
    return conflict(event, "is in_flight: worker " + event.claimed_by.value_or("unknown") +
                               " has it and cannot be called back; try again when it is settled or its claim has "
                               "expired");
  }
  if (event.status != Status::pending) return in_wrong_state(event, Status::pending, verb);
  return {};
}

/// What a replay changes on the row.
struct Reset {
  Generation generation = 0;
  Timestamp now;
};

Result<ReplayReport> reset(Connection& connection, const EventRecord& event, const Reset& to, const Actor& actor) {
  SLUICE_TRY(const bool retired, is_retired(connection, to.generation));
  if (retired) return retired_generation(to.generation);
  SLUICE_TRY(auto cycle, connection.first(sql::next_cycle, {{":id", event.envelope.event_id()}},
                                          [](Row& row) { return static_cast<int>(row.integer()); }));
  SLUICE_CHECK(connection.run(sql::replay, {{":new_generation", to.generation},
                                            {":now", to.now},
                                            {":replayed_by", given(actor.name)},
                                            {":reason", given(actor.reason)},
                                            {":operation_id", std::nullopt},
                                            {":id", event.envelope.event_id()},
                                            {":from", name(event.status)}}));
  return ReplayReport{event.envelope.event_id(), cycle.value_or(1), event.attempts, event.generation, to.generation};
}

/// Where a cancelled event goes when it is restored: none, it stays in its generation.
Result<std::optional<Generation>> new_home(Connection& connection, const EventRecord& event) {
  if (event.status != Status::pending) return std::optional<Generation>{};
  SLUICE_TRY(const bool left, is_retired(connection, event.generation));
  if (!left) return std::optional<Generation>{};
  SLUICE_TRY(const auto home, default_generation(connection));
  SLUICE_TRY(const bool retired, is_retired(connection, home));
  if (retired) return retired_generation(home);
  return std::optional{home};
}

JsonObject replay_detail(const ReplayReport& report) {
  JsonObject detail;
  detail.number("cycle", report.cycle)
      .number("attempts", report.attempts)
      .number("from_generation", report.from_generation)
      .number("to_generation", report.to_generation);
  return detail;
}

Result<void> check_generation(Generation generation) {
  if (generation >= kFirstGeneration) return {};
  return invalid("generation", "the generation must be at least 1");
}

Result<void> must_be_dead(const EventRecord& event) {
  if (event.status != Status::failed) return in_wrong_state(event, Status::failed, "replayed");
  if (event.deleted_at) return conflict(event, "is discarded: restore it first");
  return {};
}

struct Subscriber {
  std::string handler_name;
  Timestamp registered_at{};
  std::optional<Timestamp> handled_at;
};

Result<std::vector<Subscriber>> subscribers_of(Connection& connection, const Uuid& id) {
  std::vector<Subscriber> all;
  SLUICE_CHECK(connection.each(sql::subscribers_of, {{":id", id}}, [&](Row& row) {
    Subscriber one;
    one.handler_name = row.text();
    one.registered_at = row.timestamp();
    one.handled_at = row.optional_timestamp();
    all.push_back(std::move(one));
  }));
  return all;
}

// Who has not handled it, and is not meant: with its own failure, or, where the event had one handler, the row's.
HandlerProgress set_aside(const EventRecord& event, const Subscriber& other, Timestamp now) {
  HandlerProgress aside;
  const auto own = std::find_if(event.progress.begin(), event.progress.end(),
                                [&](const HandlerProgress& one) { return one.handler_name == other.handler_name; });
  if (own != event.progress.end()) {
    aside = *own;
  } else if (event.status == Status::failed && event.progress.empty() && other.registered_at <= event.failed_at) {
    aside.attempts = event.attempts;
    aside.last_error = event.last_error.value_or("");
    aside.error_class = event.error_class.value_or("");
    aside.fingerprint = event.fingerprint.value_or("");
  }
  aside.handler_name = other.handler_name;
  aside.due = now;
  aside.out_of_attempts = true;
  aside.aside = true;
  return aside;
}

Error not_a_subscriber(const HandlerReplay& request, const EventRecord& event, const std::vector<Subscriber>& all) {
  std::vector<std::string> names;
  for (const Subscriber& one : all) names.push_back(one.handler_name);
  return invalid("handler", "handler: " + request.handler_name + " does not subscribe to " +
                                event.envelope.event_type() + " in generation " + std::to_string(request.generation) +
                                "; those that do: " + (names.empty() ? "none" : sluice::joined(names, ", ")));
}

}  // namespace

Result<ReplayReport> SqliteStore::replay(const Uuid& id, Generation new_generation, const Actor& actor) {
  SLUICE_CHECK(check_generation(new_generation));
  auto replayed_as = database_->write([&](Connection& connection) -> Result<ReplayReport> {
    SLUICE_TRY(const auto event, find_event(connection, id));
    SLUICE_CHECK(must_be_dead(event));
    const Timestamp now = clock_();
    SLUICE_TRY(const auto report, reset(connection, event, {new_generation, now}, actor));
    SLUICE_CHECK(record_audit(connection, actor, {now, "replay", id, replay_detail(report).str()}));
    return report;
  });
  if (replayed_as) bell_->notify();
  return replayed_as;
}

Result<ReplayReport> SqliteStore::send_to(const HandlerReplay& request, const Actor& actor) {
  const Uuid& id = request.event_id;
  const bool resend = request.from == Status::delivered;
  SLUICE_CHECK(need_reason(actor, resend ? "send an event again" : "replay an event"));
  SLUICE_CHECK(check_generation(request.generation));
  auto sent = database_->write([&](Connection& connection) -> Result<ReplayReport> {
    SLUICE_TRY(const auto event, find_event(connection, id));
    if (event.status != request.from) return in_wrong_state(event, request.from, resend ? "sent again" : "replayed");
    if (event.deleted_at) return conflict(event, resend ? "is past its retention" : "is discarded: restore it first");
    SLUICE_TRY(const auto relay, read_relay(connection));
    if (relay.state != RelayState::off) {
      return Error{ErrorCode::conflict,
                   Retry::never,
                   "a broker carries the deliveries, and its consumers take an event whole: replay it without a "
                   "handler, or switch the relay off first",
                   {},
                   {}};
    }
    const Timestamp now = clock_();
    SLUICE_TRY(const auto report, reset(connection, event, {request.generation, now}, actor));
    SLUICE_TRY(const auto all, subscribers_of(connection, id));
    const auto own = std::find_if(all.begin(), all.end(),
                                  [&](const Subscriber& one) { return one.handler_name == request.handler_name; });
    if (own == all.end()) return not_a_subscriber(request, event, all);
    SLUICE_CHECK(connection.run(sql::handled_forget, {{":idempotency_key", event.envelope.idempotency_key()},
                                                      {":handler_name", request.handler_name}}));
    HandlerProgress meant;
    meant.handler_name = request.handler_name;
    meant.due = now;
    std::vector<HandlerProgress> progress{std::move(meant)};
    for (const Subscriber& other : all) {
      const bool open = other.handler_name != request.handler_name && !other.handled_at;
      if (open) progress.push_back(set_aside(event, other, now));
    }
    SLUICE_CHECK(connection.run(sql::send_to, {{":progress", progress_to_json(progress)},
                                               {":delivered_at", resend ? event.delivered_at : std::nullopt},
                                               {":handler_name", request.handler_name},
                                               {":id", id}}));
    const std::string detail =
        replay_detail(report).text("handler", request.handler_name).time("handled_at", own->handled_at).str();
    SLUICE_CHECK(record_audit(connection, actor, {now, resend ? "resend" : "replay", id, detail}));
    return report;
  });
  if (sent) bell_->notify();
  return sent;
}

Result<ReplayReport> SqliteStore::replay_edited(const EditedReplay& request, const Actor& actor) {
  const Uuid& id = request.event_id;
  SLUICE_CHECK(need_reason(actor, "replay an event with another payload"));
  SLUICE_CHECK(check_generation(request.generation));
  auto replayed_as = database_->write([&](Connection& connection) -> Result<ReplayReport> {
    SLUICE_TRY(const auto event, find_event(connection, id));
    SLUICE_CHECK(must_be_dead(event));
    const Timestamp now = clock_();
    SLUICE_TRY(const auto report, reset(connection, event, {request.generation, now}, actor));
    SLUICE_CHECK(connection.run(sql::edit_payload, {{":payload", request.payload}, {":id", id}}));
    SLUICE_TRY(const auto edited, find_event(connection, id));
    if (static_cast<std::int64_t>(edited.failure_history.size()) > request.most) {
      return conflict(event, "was edited too often: its history would have more than " + std::to_string(request.most) +
                                 " bytes; publish a new event instead");
    }
    SLUICE_CHECK(record_audit(connection, actor, {now, "replay", id, replay_detail(report).str()}));
    SLUICE_CHECK(record_audit(connection, actor, {now, "edit", id, JsonObject{}.number("cycle", report.cycle).str()}));
    return report;
  });
  if (replayed_as) bell_->notify();
  return replayed_as;
}

Result<void> SqliteStore::schedule(const Uuid& id, std::optional<Timestamp> due, const Actor& actor) {
  SLUICE_CHECK(need_reason(actor, due ? "reschedule an event" : "run an event now"));
  auto scheduled = database_->write([&](Connection& connection) -> Result<void> {
    SLUICE_TRY(const auto event, find_event(connection, id));
    SLUICE_CHECK(must_wait(event, due ? "rescheduled" : "run now"));
    const Timestamp now = clock_();
    if (due && *due <= now) {
      return invalid("at", "at: " + to_iso8601(*due) + " is not in the future; run the event now instead");
    }
    if (!due && event.ordering_key) {
      SLUICE_TRY(const auto blocker,
                 connection.first(sql::key_blocker, {{":ordering_key", *event.ordering_key}, {":seq", event.seq}},
                                  [](Row& row) { return row.uuid(); }));
      if (blocker) {
        return conflict(event, "waits for event " + blocker->to_string() +
                                   " of its ordering key, which goes first: run that one now, or cancel it");
      }
    }
    SLUICE_CHECK(connection.run(sql::schedule, {{":due", due.value_or(now)}, {":id", id}}));
    const std::string detail = JsonObject{}
                                   .time("due", due.value_or(now))
                                   .time("was_due", event.retry_after.value_or(event.published_at))
                                   .str();
    return record_audit(connection, actor, {now, due ? "reschedule" : "run_now", id, detail});
  });
  if (scheduled) bell_->notify();
  return scheduled;
}

Result<void> SqliteStore::cancel(const Uuid& id, const Actor& actor) {
  SLUICE_CHECK(need_reason(actor, "cancel an event"));
  auto cancelled = database_->write([&](Connection& connection) -> Result<void> {
    SLUICE_TRY(const auto event, find_event(connection, id));
    if (event.status == Status::pending && event.deleted_at) return conflict(event, "is already cancelled");
    SLUICE_CHECK(must_wait(event, "cancelled"));
    const Timestamp now = clock_();
    SLUICE_CHECK(connection.run(sql::cancel, {{":now", now}, {":id", id}}));
    return record_audit(connection, actor, {now, "cancel", id, JsonObject{}.time("due", event.retry_after).str()});
  });
  // What waited for its ordering key can be claimed now.
  if (cancelled) bell_->notify();
  return cancelled;
}

Result<void> SqliteStore::discard(const Uuid& id, const Actor& actor) {
  SLUICE_CHECK(need_reason(actor, "discard an event"));
  return database_->write([&](Connection& connection) -> Result<void> {
    SLUICE_TRY(const auto event, find_event(connection, id));
    if (event.status != Status::failed) return in_wrong_state(event, Status::failed, "discarded");
    if (event.deleted_at) return conflict(event, "is discarded already");
    const Timestamp now = clock_();
    SLUICE_CHECK(connection.run(sql::discard, {{":now", now}, {":id", id}}));
    return record_audit(connection, actor, {now, "discard", id});
  });
}

Result<void> SqliteStore::restore(const Uuid& id, const Actor& actor) {
  SLUICE_CHECK(need_reason(actor, "restore an event"));
  auto restored = database_->write([&](Connection& connection) -> Result<void> {
    SLUICE_TRY(const auto event, find_event(connection, id));
    const bool pending = event.status == Status::pending;
    if (event.status != Status::failed && !pending) return in_wrong_state(event, Status::failed, "restored");
    if (!event.deleted_at) return conflict(event, pending ? "is not cancelled" : "is not discarded");
    const Timestamp now = clock_();
    SLUICE_TRY(const auto home, new_home(connection, event));
    SLUICE_CHECK(connection.run(sql::restore, {{":now", now}, {":generation", home}, {":id", id}}));
    JsonObject detail;
    if (home) detail.number("from_generation", event.generation).number("to_generation", *home);
    return record_audit(connection, actor, {now, "restore", id, detail.str()});
  });
  if (restored) bell_->notify();
  return restored;
}

}  // namespace sluice::store::sqlite
