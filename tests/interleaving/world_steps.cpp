// What the sessions of a scenario do, step by step.
#include <algorithm>
#include <utility>

#include "tests/interleaving/world.hpp"

namespace sluice::test {

Step World::sql(const std::string& name, const std::string& who, const std::string& text) {
  return step(name, who, [this, text](Session& session) { must(session, text); });
}

std::string World::insert(Session& session, const Event& event) {
  {
    const std::scoped_lock lock{mutex_};
    notes_[event.name] = {.key = key_of(event), .type = event.type, .began = ++tick_};
  }
  session.publishing.push_back(event.name);
  return "insert into core.outbox (event_type, source, generation, idempotency_key, ordering_key) values ('" +
         event.type + "', 'tests', " + std::to_string(generation_) + ", '" + event.name + "', nullif('" +
         key_of(event) + "', ''))";
}

void World::committed(Session& session) {
  const std::scoped_lock lock{mutex_};
  for (const std::string& name : session.publishing) {
    notes_[name].committed = ++tick_;
    notes_[name].open = true;
  }
  session.publishing.clear();
  session.in_transaction = false;
  if (!session.withdrawing.empty()) subscriptions_.erase(std::exchange(session.withdrawing, {}));
}

Step World::publish(const std::string& who, const Event& event) {
  return step("publish " + event.name, who, [this, event](Session& session) {
    must(session, insert(session, event));
    committed(session);
  });
}

Step World::publish_begun(const std::string& who, const Event& event) {
  return step("begin, publish " + event.name, who, [this, event](Session& session) {
    session.in_transaction = true;
    must(session, "begin; " + insert(session, event));
  });
}

Step World::commit(const std::string& who) {
  return step("commit", who, [this](Session& session) {
    must(session, "commit");
    committed(session);
  });
}

Step World::rollback(const std::string& who) {
  return step("rollback", who, [this](Session& session) {
    must(session, "rollback");
    session.publishing.clear();
    session.in_transaction = false;
  });
}

// Those that a later event of their key has to wait for.
std::set<std::string> World::open_ones() {
  const std::scoped_lock lock{mutex_};
  std::set<std::string> open;
  for (const auto& [name, note] : notes_) {
    const bool wanted = std::any_of(subscriptions_.begin(), subscriptions_.end(), [&](const auto& subscription) {
      return Interest{.event_type = subscription.second}.matches(
          {.event_type = note.type, .target = {}, .channel = "c"});
    });
    if (note.open && wanted) open.insert(name);
  }
  return open;
}

void World::claimed(Session& session, const std::string& name, const store::ClaimRef& claim,
                    const std::set<std::string>& open_before) {
  const std::set<std::string> open_now = open_ones();
  const std::scoped_lock lock{mutex_};
  session.held[name] = claim;
  names_[claim.event_id] = name;
  Note& note = notes_[name];
  ++note.claims;
  for (const auto& [earlier, other] : notes_) {
    if (!note.key.empty() && earlier != name && other.key == note.key && other.committed > 0 &&
        other.committed < note.began && open_before.contains(earlier) && open_now.contains(earlier))
      broken_ = name + " was claimed before " + earlier + ", the earlier one of its key";
  }
}

Step World::claim(const std::string& who, int limit, const std::string& pattern) {
  return step("claim " + std::to_string(limit) + " " + pattern, who, [this, limit, pattern](Session& session) {
    const std::set<std::string> open = open_ones();
    const std::set<std::string> plain = plain_ones();
    for (const auto& event : value_of(store_of(session).claim(request(session.name, limit, pattern)), "claim"))
      claimed(session, event.envelope.idempotency_key(), event.claim, open);
    if (dear_ && process_.contains(session.name)) check_found(session, plain);
  });
}

// Committed, without a key, and not claimed by anybody yet.
std::set<std::string> World::plain_ones() {
  const std::scoped_lock lock{mutex_};
  std::set<std::string> plain;
  for (const auto& [name, note] : notes_) {
    if (note.open && note.claims == 0 && note.key.empty()) plain.insert(name);
  }
  return plain;
}

void World::check_found(Session& session, const std::set<std::string>& before) {
  const std::set<std::string> now = plain_ones();
  for (const std::string& name : before) {
    if (!now.contains(name)) continue;
    // Another claim may be about to take it.
    const auto left =
        sql_of(session).run("select from core.outbox where generation = " + std::to_string(generation_) +
                            " and idempotency_key = '" + name + "' and status = 'pending' for update skip locked");
    if (!left.ok()) throw std::runtime_error(left.error);
    if (left.rows.empty()) continue;
    const std::scoped_lock lock{mutex_};
    broken_ = name + " was left out by a claim of " + session.name;
  }
}

Step World::hold_rescans(const std::string& who, Moment moment) {
  const std::string which = moment == Moment::before ? "0" : "1";
  return step(moment == Moment::before ? "hold rescans" : "hold rescans that have read", who,
              [this, which](Session& session) {
                session.in_transaction = true;
                must(session, "begin; select pg_advisory_xact_lock(77, " + which + ")");
              });
}

Step World::cancel_rescans(const std::string& who) {
  return sql("cancel rescans", who, "select pg_cancel_backend(pid) from explorer.held_rescans");
}

Step World::claim_begun(const std::string& who, int limit) {
  return step("begin, claim " + std::to_string(limit), who, [this, limit](Session& session) {
    const std::set<std::string> open = open_ones();
    session.in_transaction = true;
    by_sql_ = true;
    must(session, "begin");
    const auto answer =
        sql_of(session).run("select idempotency_key, id, claim_seq, batch from core.outbox_claim(" +
                            std::to_string(generation_) + ", '" + session.name + "', " + std::to_string(limit) +
                            ", '5 min', 0, null, null, null, null, true) where id is not null");
    if (!answer.ok()) throw std::runtime_error(answer.error);
    for (const auto& row : answer.rows)
      claimed(session, *row[0],
              {.event_id = *Uuid::parse(*row[1]), .claim_seq = std::stoll(*row[2]), .batch = std::stoll(*row[3])},
              open);
  });
}

std::vector<store::SettleItem> World::items(const Held& held, End end) {
  std::vector<store::SettleItem> items;
  for (const auto& [name, claim] : held) {
    Settlement settlement;
    if (end == End::released) {
      settlement = sluice::settle(0, Outcome::released(), {}, 0.0);
    } else if (end != End::delivered) {
      settlement = {.next = end == End::retry ? Status::pending : Status::failed,
                    .cause = end == End::retry ? Cause::retry : Cause::fail,
                    .counts_attempt = true,
                    .records_error = true,
                    .delay = std::chrono::seconds{1},
                    .last_error = "Test: no",
                    .error_class = "Test",
                    .fingerprint = "test"};
    }
    items.push_back({.claim = claim, .settlement = settlement, .handled_by = {}, .idempotency_key = {}});
  }
  return items;
}

void World::settled(const Held& held, const std::vector<Uuid>& fenced, End end) {
  const std::scoped_lock lock{mutex_};
  for (const auto& [name, claim] : held) {
    if (std::find(fenced.begin(), fenced.end(), claim.event_id) != fenced.end()) continue;
    Note& note = notes_[name];
    if (end == End::retry || end == End::released) {
      ++note.most_claims;
      continue;
    }
    note.open = false;
    if (end == End::delivered && ++note.deliveries > note.most_deliveries) broken_ = name + " was delivered twice";
  }
}

Step World::settle(const std::string& who, End end) {
  return step(end == End::delivered ? "settle"
              : end == End::retry   ? "settle: retry"
                                    : "settle: failed",
              who, [this, end](Session& session) {
                const Held held = std::exchange(session.held, {});
                if (held.empty()) return;
                settled(held, value_of(store_of(session).settle(items(held, end)), "settle").fenced, end);
              });
}

Step World::settle_begun(const std::string& who, End end) {
  return step("settle begun", who, [this, end](Session& session) {
    session.settling = std::exchange(session.held, {});
    if (session.settling.empty()) return;
    session.end = end;
    session.effect = value_of(store_of(session).begin_effect(std::chrono::minutes{5}), "begin");
    session.fenced = value_of(session.effect->settle(items(session.settling, end), std::nullopt), "settle").fenced;
  });
}

Step World::settle_committed(const std::string& who) {
  return step("settle committed", who, [this](Session& session) {
    if (!session.effect) return;
    value_of(session.effect->commit(), "commit");
    session.effect.reset();
    settled(std::exchange(session.settling, {}), session.fenced, session.end);
  });
}

Step World::look(const std::string& who, const std::string& pattern) {
  return step("look " + pattern, who, [this, pattern](Session& session) { must(session, advance(pattern)); });
}

Step World::look_begun(const std::string& who, const std::string& pattern) {
  return step("begin, look " + pattern, who, [this, pattern](Session& session) {
    session.in_transaction = true;
    must(session, "begin; " + advance(pattern));
  });
}

Step World::glance(const std::string& who) {
  return step("glance", who, [this](Session& session) {
    must(session,
         "select set_config('glance.first_open', coalesce((select min(seq)::text from core.outbox where status = "
         "'pending' "
         "and retry_after is null and generation = " +
             std::to_string(generation_) + "), ''), false)");
  });
}

Step World::expire(const std::string& who) {
  return step("expire", who, [this](Session& session) {
    must(session,
         "update core.claims set ttl = '0', expires_at = now() where generation = " + std::to_string(generation_));
  });
}

Step World::reap(const std::string& who) {
  return step("reap", who, [this](Session& session) { reap_now(session); });
}

void World::reap_now(Session& session) {
  Held expired;
  for (const auto& claim : value_of(store_of(session).expired_claims(100), "expired")) {
    const std::scoped_lock lock{mutex_};
    const auto name = names_.find(claim.claim.event_id);
    if (name == names_.end()) throw std::runtime_error("an unknown claim expired");
    expired[name->second] = claim.claim;
  }
  if (expired.empty()) return;
  settled(expired, value_of(store_of(session).settle(items(expired, End::retry)), "settle").fenced, End::retry);
}

Step World::act(const std::string& who, const std::string& name, const std::string& event, const std::string& call,
                std::function<void(Note&)> then) {
  return step(name + ' ' + event, who, [this, event, call, then = std::move(then)](Session& session) {
    const auto answer = sql_of(session).run("select core." + call + " from core.outbox where generation = " +
                                            std::to_string(generation_) + " and idempotency_key = '" + event + "'");
    if (answer.sqlstate == "SL409") return;  // its state does not allow it
    if (!answer.ok()) throw std::runtime_error(answer.error);
    if (answer.rows.empty()) return;
    const std::scoped_lock lock{mutex_};
    then(notes_[event]);
  });
}

Step World::replay(const std::string& who, const std::string& event) {
  return act(who, "replay", event, "outbox_replay(id, generation, 'tester')", [](Note& note) {
    note.open = true;
    ++note.most_claims;
    ++note.most_deliveries;
  });
}

Step World::run_now(const std::string& who, const std::string& event) {
  return act(who, "run now", event, "outbox_schedule(id, null, 'tester', 'sql', 'a test')", [](Note&) {});
}

Step World::cancel(const std::string& who, const std::string& event) {
  return act(who, "cancel", event, "outbox_cancel(id, 'tester', 'sql', 'a test')",
             [](Note& note) { note.open = false; });
}

Step World::restore(const std::string& who, const std::string& event) {
  return act(who, "restore", event, "outbox_restore(id, 'a test', 'tester')", [](Note& note) { note.open = true; });
}

Step World::resend(const std::string& who, const std::string& event, const std::string& handler) {
  return act(who, "resend", event,
             "outbox_send_to(id, '" + handler + "', 'delivered', generation, 'tester', 'sql', 'a test')",
             [](Note& note) {
               note.open = true;
               ++note.most_claims;
               ++note.most_deliveries;
             });
}

Step World::unsubscribe_begun(const std::string& who, const std::string& handler) {
  return step("begin, unsubscribe " + handler, who, [this, handler](Session& session) {
    session.in_transaction = true;
    session.withdrawing = handler;
    must(session,
         "begin; select core.unsubscribe(" + std::to_string(generation_) + ", '" + handler + "', 'tester', 'sql', '')");
  });
}

Step World::crash(const std::string& who, const std::string& victim) {
  Session& dying = session(victim);
  return step("crash of " + victim, who, [this, &dying](Session&) {
    dying.crashed = true;
    crashed_ = true;
    stop(dying.name);
  });
}

}  // namespace sluice::test
