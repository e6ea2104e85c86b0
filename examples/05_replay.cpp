// 05: replay. An event fails for good, the handler is fixed, and the same event is replayed in place: same
// id, same idempotency key, its failure kept in the history.
//
// Needs PostgreSQL: replay is a function of the schema, and an embedded store has no functions of its own.
//
// Prints:
//   the first release: cannot read the year 2100
//   in the dead-letter queue: TerminalError: cannot read the year 2100
//   replayed, cycle 1 is closed
//   the second release: understood
//   failed in cycle 1, delivered in the next
#include <libpq-fe.h>

#include <memory>

#include <sluice/publisher.hpp>
#include "example.hpp"

namespace {

// One statement with one parameter, and the first column of what it returns.
std::string ask(PGconn* connection, const char* sql, const std::string& parameter) {
  const char* const parameters[] = {parameter.c_str()};
  const std::unique_ptr<PGresult, decltype(&PQclear)> rows{
      PQexecParams(connection, sql, 1, nullptr, parameters, nullptr, nullptr, 0), PQclear};
  if (PQresultStatus(rows.get()) != PGRES_TUPLES_OK) throw std::runtime_error(PQerrorMessage(connection));
  return PQgetvalue(rows.get(), 0, 0);
}

// A release of a service: runs its handler until it has been called once.
sluice::ListenerStatus run_release(const example::Store& store, sluice::EventHandler handler,
                                   const example::Progress& called) {
  auto listener = example::required(sluice::EventListener::open({.store = store.address()}));
  example::required(
      listener.listen({.handler_name = "calendar.planner", .events = {"calendar.date.*"}}, std::move(handler)));
  example::required(listener.start());
  called.await(1);
  listener.stop();
  return listener.status();
}

}  // namespace

int main() {
  const example::Store store;
  if (!store.is_postgres()) {
    std::cerr << "error: this example needs PostgreSQL: set SLUICE_STORE to postgres://…\n";
    return 2;
  }
  auto publisher = example::required(sluice::EventPublisher::open({.store = store.address()}));
  sluice::EnvelopeDraft draft = publisher.draft();
  draft.event_type = "calendar.date.proposed";
  draft.source = "calendar";
  draft.payload = R"({"year":2100})";
  const auto event = example::required(sluice::EventEnvelope::make(std::move(draft)));
  example::required(publisher.publish(event));

  example::Progress failed;
  const auto first = run_release(
      store,
      [&](const sluice::EventEnvelope&) {
        std::cout << "the first release: cannot read the year 2100\n";
        failed.add();
        throw sluice::TerminalError{"cannot read the year 2100"};
      },
      failed);

  const std::unique_ptr<PGconn, decltype(&PQfinish)> connection{PQconnectdb(store.address().c_str()), PQfinish};
  const std::string id = event.event_id().to_string();
  std::cout << "in the dead-letter queue: "
            << ask(connection.get(), "select last_error from core.outbox where status = 'failed' and id = $1", id)
            << '\n';
  // region: replay
  const std::string cycle = ask(connection.get(),
                                "select core.outbox_replay(id, generation, 'ann@example.com') ->> 'cycle'"
                                "  from core.outbox where id = $1",
                                id);
  // end region
  std::cout << "replayed, cycle " << cycle << " is closed\n";

  example::Progress handled;
  const auto second = run_release(
      store,
      [&](const sluice::EventEnvelope&) {
        std::cout << "the second release: understood\n";
        handled.add();
      },
      handled);

  const char* history =
      "select failure_history -> 0 ->> 'cycle' from core.outbox where status = 'delivered' and id = $1";
  std::cout << "failed in cycle " << ask(connection.get(), history, id) << ", delivered in the next\n";
  return first.failed == 1 && second.delivered == 1 ? 0 : 1;
}
