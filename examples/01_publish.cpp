// 01: publish in your own transaction. An order and its event are committed together, or neither is.
//
// Prints:
//   order 1: committed
//   order 2: rolled back
//   order 3: committed
//   heard of order 1
//   heard of order 3
//   2 orders, 2 events
#include <libpq-fe.h>
#include <sqlite3.h>

#include <memory>

#include <sluice/publisher.hpp>
#include "example.hpp"

namespace {

sluice::EventEnvelope order_placed(const sluice::EventPublisher& publisher, int order) {
  sluice::EnvelopeDraft draft = publisher.draft();
  draft.event_type = "shop.order.placed";
  draft.source = "shop";
  draft.payload = "{\"order\":" + std::to_string(order) + "}";
  return example::required(sluice::EventEnvelope::make(std::move(draft)));
}

struct OnPostgres {
  explicit OnPostgres(const std::string& address) : handle(PQconnectdb(address.c_str()), PQfinish) {}
  std::string run(const std::string& sql) const {
    const std::unique_ptr<PGresult, decltype(&PQclear)> done{PQexec(handle.get(), sql.c_str()), PQclear};
    const auto status = PQresultStatus(done.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) throw std::runtime_error(PQerrorMessage(handle.get()));
    return PQntuples(done.get()) > 0 ? PQgetvalue(done.get(), 0, 0) : "";
  }
  std::unique_ptr<PGconn, decltype(&PQfinish)> handle;
};

struct OnSqlite {
  explicit OnSqlite(const std::string& file) : handle(nullptr, sqlite3_close) {
    sqlite3* opened = nullptr;
    if (sqlite3_open(file.c_str(), &opened) != SQLITE_OK) throw std::runtime_error("cannot open " + file);
    handle.reset(opened);
    sqlite3_busy_timeout(opened, 10'000);
    run("pragma wal_autocheckpoint = 0");  // the store's own connection does that
  }
  std::string run(const std::string& sql) const {
    std::string first;
    const auto keep = [](void* into, int, char** values, char**) {
      *static_cast<std::string*>(into) = values[0] == nullptr ? "" : values[0];
      return 0;
    };
    if (sqlite3_exec(handle.get(), sql.c_str(), keep, &first, nullptr) != SQLITE_OK) {
      throw std::runtime_error(sqlite3_errmsg(handle.get()));
    }
    return first;
  }
  std::unique_ptr<sqlite3, decltype(&sqlite3_close)> handle;
};

// region: place_order
template <class Database>
void place_order(const Database& mine, sluice::EventPublisher& publisher, int order, bool paid) {
  mine.run("begin");
  mine.run("insert into shop_orders values (" + std::to_string(order) + ")");
  const auto published = publisher.publish(order_placed(publisher, order), mine.handle.get());
  const bool keep = published && paid;
  mine.run(keep ? "commit" : "rollback");
  std::cout << "order " << order << ": " << (keep ? "committed" : "rolled back") << '\n';
}
// end region

template <class Database>
int sell(const Database& mine, sluice::EventPublisher& publisher, const example::Store& store) {
  mine.run("drop table if exists shop_orders");
  mine.run("create table shop_orders (id bigint primary key)");
  place_order(mine, publisher, 1, true);
  place_order(mine, publisher, 2, false);
  place_order(mine, publisher, 3, true);

  auto listener = example::required(sluice::EventListener::open({.store = store.address(), .threads = 1}));
  example::Progress heard;
  example::required(listener.listen({.handler_name = "mail.order_greeter", .events = {"shop.order.placed"}},
                                    [&](const sluice::EventEnvelope& event) {
                                      const std::string& payload = event.payload();
                                      const std::string order = payload.substr(payload.find(':') + 1);
                                      std::cout << "heard of order " << std::stoi(order) << '\n';
                                      heard.add();
                                    }));
  example::required(listener.start());
  heard.await(2);
  listener.stop();

  const std::string orders = mine.run("select count(*) from shop_orders");
  std::cout << orders << " orders, " << listener.status().delivered << " events\n";
  return orders == "2" && listener.status().delivered == 2 ? 0 : 1;
}

}  // namespace

int main() {
  const example::Store store;
  auto publisher = example::required(sluice::EventPublisher::open({.store = store.address()}));
  if (store.is_postgres()) return sell(OnPostgres{store.address()}, publisher, store);
  return sell(OnSqlite{store.file()}, publisher, store);
}
