// Late commits that nobody is told of: nothing notifies in these tests, and nothing polls.
#include <deque>

#include "tests/delivery/delivery_fixture.hpp"
#include "tests/support/postgres_database.hpp"

namespace sluice::test {
namespace {

runtime::PoolOptions pool(const std::string& name, const std::vector<std::string>& handlers, Journal& journal) {
  runtime::PoolOptions options;
  options.name = name;
  options.workers = 2;
  for (const std::string& handler : handlers) {
    runtime::RegisteredHandler one = journalling(handler, journal);
    one.subscription.event_types = {name + ".*"};
    EXPECT_TRUE(options.handlers.add(std::move(one)));
  }
  return options;
}

// The store owes a rescan to the pool that serves the event: that ends its rest, among other pools and with several
// handlers. Were it asked for other handlers than those it was claimed with, the event would wait for a poll. Several,
// one after the other: the first may be found by who has just started.
TEST(LateCommit, IsFoundByTheOneOfSeveralPoolsThatServesIt) {
  const PostgresDatabase database;
  SqlSession session{database.url()};
  std::deque<SqlSession> publishers;
  const auto insert = [](SqlSession& into, const std::string& type) {
    into.must("insert into core.outbox (event_type, source, generation) values ('" + type + "', 'tests', 1)");
  };
  session.must("alter table core.outbox disable trigger outbox_notify");
  for (int number = 0; number < 5; ++number) {
    publishers.emplace_back(database.url()).must("begin");
    insert(publishers.back(), "a.late");
  }
  insert(session, "a.early");
  insert(session, "b.early");

  Journal journal;
  const auto store = open_store(database.url());
  std::vector<runtime::PoolOptions> pools;
  pools.push_back(pool("a", {"tests.two", "tests.one"}, journal));
  pools.push_back(pool("b", {"tests.other"}, journal));
  const auto supervisor = runtime::Supervisor::start(*store, std::move(pools), {}, patient_options("p:1"));
  ASSERT_TRUE(supervisor) << supervisor.error().message;
  std::size_t entries = 3;
  journal.await(entries);
  for (SqlSession& publisher : publishers) {
    publisher.must("commit");
    entries += 2;
    ASSERT_TRUE(journal.await_within(30s, entries)) << "it waits for a poll; " << entries;
  }
}

}  // namespace
}  // namespace sluice::test
