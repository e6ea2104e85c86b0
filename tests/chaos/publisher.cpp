// chaos_publisher store=… record=FILE publisher=N [threads= rate= seed= keys= keyed= hold= poison= hooks= count=]:
// publishes numbered events until its standard input ends, or `count` of them; then repeats what was in doubt and ends.
// It writes what it is about to do before it does it, and what became of it:
//
//   I TX TIME FIRST:COUNT:KEY:TYPE …    the numbers that this transaction publishes, in order
//   A TX TIME                           committed
//   R TX TIME                           rolled back, or refused before anything was written
//   D TX TIME                           in doubt: the answer was lost. An A may follow, when it was repeated
//
// An I without an end is in doubt, too. One thread keeps its transactions open for long; the others are quick.
#include <libpq-fe.h>
#include <sqlite3.h>

#include <atomic>
#include <iostream>
#include <random>
#include <thread>
#include <vector>

#include <sluice/publisher.hpp>
#include "tests/chaos/record.hpp"

namespace {

using namespace sluice;
using namespace std::chrono_literals;
using chaos::Record;
using chaos::Settings;

enum class End { committed, rolled_back, in_doubt };

struct Run {
  std::vector<EventEnvelope> events;
  Routing routing;
};
struct Draft {
  std::string name;
  std::vector<Run> runs;
};

// A transaction on a connection of the caller's own, as an application has it.
class Session {
 public:
  virtual ~Session() = default;
  virtual bool begin() = 0;
  virtual bool publish(EventPublisher& publisher, const Run& run) = 0;
  virtual End commit() = 0;
  virtual void rollback() = 0;
};

class PostgresSession final : public Session {
 public:
  explicit PostgresSession(std::string url) : url_(std::move(url)) {}
  ~PostgresSession() override { PQfinish(connection_); }
  bool begin() override {
    if (connection_ == nullptr || PQstatus(connection_) != CONNECTION_OK) {
      PQfinish(connection_);
      connection_ = PQconnectdb((url_ + "?connect_timeout=5").c_str());
    }
    return does("begin");
  }
  bool publish(EventPublisher& publisher, const Run& run) override {
    return publisher.publish(run.events, connection_, run.routing).has_value();
  }
  End commit() override {
    PGresult* answer = PQexec(connection_, "commit");
    const bool done = PQresultStatus(answer) == PGRES_COMMAND_OK && std::string_view{PQcmdStatus(answer)} == "COMMIT";
    PQclear(answer);
    if (done) return End::committed;
    return PQstatus(connection_) == CONNECTION_OK ? End::rolled_back : End::in_doubt;
  }
  void rollback() override { does("rollback"); }

 private:
  bool does(const char* sql) {
    PGresult* answer = PQexec(connection_, sql);
    const bool done = PQresultStatus(answer) == PGRES_COMMAND_OK;
    PQclear(answer);
    return done;
  }
  std::string url_;
  PGconn* connection_ = nullptr;
};

class SqliteSession final : public Session {
 public:
  explicit SqliteSession(const std::string& url) {
    if (sqlite3_open(url.substr(url.find(':') + 1).c_str(), &file_) != SQLITE_OK) throw std::runtime_error("no file");
    sqlite3_busy_timeout(file_, 10'000);
  }
  ~SqliteSession() override { sqlite3_close(file_); }
  bool begin() override { return does("begin immediate"); }
  bool publish(EventPublisher& publisher, const Run& run) override {
    return publisher.publish(run.events, file_, run.routing).has_value();
  }
  End commit() override {
    if (does("commit")) return End::committed;
    rollback();
    return End::rolled_back;
  }
  void rollback() override { does("rollback"); }

 private:
  bool does(const char* sql) { return sqlite3_exec(file_, sql, nullptr, nullptr, nullptr) == SQLITE_OK; }
  sqlite3* file_ = nullptr;
};

struct Orders {
  std::atomic<bool> stop = false;
  std::atomic<bool> wait = false;
};

class Publishing {
 public:
  Publishing(const Settings& settings, EventPublisher& publisher, const Record& record, int thread)
      : settings_(settings),
        publisher_(publisher),
        record_(record),
        thread_(thread),
        random_(static_cast<std::uint64_t>(settings.number("seed", 1)) * 1000 + static_cast<std::uint64_t>(thread)) {
    const std::string url = settings.text("store");
    embedded_ = !url.starts_with("postgres://");
    if (embedded_) {
      session_ = std::make_unique<SqliteSession>(url);
    } else {
      session_ = std::make_unique<PostgresSession>(url);
    }
  }

  // The numbers of all threads come from one counter.
  void run(const Orders& orders, std::atomic<std::uint64_t>& next, std::uint64_t end) {
    auto begun = std::chrono::steady_clock::now();
    const double rate = settings_.number("rate", 1000) / static_cast<double>(settings_.number("threads", 4));
    double done = 0;
    while (!orders.stop && next < end) {
      const Draft draft = drawn(next);
      done += static_cast<double>(written_);
      const End ended = attempt(draft);
      if (ended == End::in_doubt) doubtful_.push_back(draft);
      // A user who is not sure publishes again: it changes nothing.
      if (ended == End::committed && draw(50) == 0) static_cast<void>(publish_all(draft));
      if (!doubtful_.empty() && draw(4) == 0) repeat();
      const auto due =
          begun + std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(done / rate));
      while (!orders.stop && std::chrono::steady_clock::now() < due) std::this_thread::sleep_for(2ms);
      for (; !orders.stop && orders.wait; begun += 5ms) std::this_thread::sleep_for(5ms);
    }
    for (int tries = 0; !doubtful_.empty() && tries < 200; ++tries) {
      if (!repeat()) std::this_thread::sleep_for(50ms);
    }
  }

 private:
  std::uint64_t draw(std::uint64_t below) { return random_() % below; }

  EventEnvelope made(std::uint64_t number, const std::string& type) {
    EnvelopeDraft draft = publisher_.draft();
    const auto milliseconds =
        std::chrono::floor<std::chrono::milliseconds>(draft.occurred_at).time_since_epoch().count();
    draft.event_id = chaos::id_of(number, static_cast<std::uint64_t>(milliseconds));
    draft.event_type = type;
    draft.source = "chaos";
    if (type.ends_with(".huge")) draft.payload = R"({"text":")" + std::string(200'000, 'x') + R"("})";
    auto event = EventEnvelope::make(std::move(draft));
    if (!event) throw std::runtime_error(event.error().message);
    return *std::move(event);
  }

  std::string type_drawn(bool& alone) {
    static const std::vector<std::string> kUsual{"x.one", "x.two", "x.a.deep", "y.one", "y.two"};
    static const std::vector<std::string> kPoison{"x.throw", "x.never", "x.flaky", "x.flaky", "x.crash",
                                                  "x.slow",  "x.huge",  "y.throw", "y.flaky", "y.huge"};
    alone = draw(10'000) < static_cast<std::uint64_t>(settings_.number("poison", 0));
    if (alone) return kPoison[draw(kPoison.size())];
    alone = draw(10'000) < static_cast<std::uint64_t>(settings_.number("hooks", 0));
    return alone ? "d.hook" : kUsual[draw(kUsual.size())];
  }

  Draft drawn(std::atomic<std::uint64_t>& next) {
    Draft draft;
    draft.name =
        std::to_string(settings_.number("publisher")) + "." + std::to_string(thread_) + "." + std::to_string(++drafts_);
    std::string line = "I " + draft.name + " ";
    std::string runs;
    written_ = 0;
    const std::uint64_t parts = 1 + draw(4);
    for (std::uint64_t part = 0; part < parts; ++part) {
      bool alone = false;
      const std::string type = type_drawn(alone);
      const bool keyed =
          settings_.number("keys") > 0 && draw(100) < static_cast<std::uint64_t>(settings_.number("keyed"));
      const std::uint64_t count = alone ? 1 : keyed ? 1 + draw(12) : 1 + draw(draw(4) == 0 ? 200 : 40);
      Run run;
      if (keyed)
        run.routing.ordering_key = "k" + std::to_string(draw(static_cast<std::uint64_t>(settings_.number("keys"))));
      if (!keyed && draw(40) == 0) run.routing.delay = std::chrono::milliseconds{draw(500)};
      const std::uint64_t first = next.fetch_add(count);
      for (std::uint64_t i = 0; i < count; ++i) run.events.push_back(made(first + i, type));
      runs += " " + std::to_string(first) + ":" + std::to_string(count) + ":" + run.routing.ordering_key.value_or("-") +
              ":" + type;
      written_ += count;
      draft.runs.push_back(std::move(run));
    }
    record_.append(line + chaos::now() + runs + "\n");
    return draft;
  }

  End noted(const Draft& draft, End end) {
    const char* mark = end == End::committed ? "A " : end == End::rolled_back ? "R " : "D ";
    record_.append(mark + draft.name + " " + chaos::now() + "\n");
    return end;
  }

  End attempt(const Draft& draft) {
    // A single run may go without a transaction of its own.
    if (draft.runs.size() == 1 && draw(2) == 0) {
      const auto done = publisher_.publish(draft.runs.front().events, draft.runs.front().routing);
      if (done) return noted(draft, End::committed);
      return noted(draft, done.error().retry == Retry::in_doubt ? End::in_doubt : End::rolled_back);
    }
    if (!session_->begin()) return noted(draft, End::rolled_back);
    for (const Run& run : draft.runs) {
      if (session_->publish(publisher_, run)) {
        hold();
        continue;
      }
      session_->rollback();
      return noted(draft, End::rolled_back);
    }
    if (draw(12) == 0) {
      session_->rollback();
      return noted(draft, End::rolled_back);
    }
    return noted(draft, session_->commit());
  }

  // Most commit at once; one thread thinks for seconds. On a file an open transaction keeps everybody out.
  void hold() {
    const auto longest = static_cast<std::uint64_t>(settings_.number("hold", 1000));
    std::uint64_t time = 0;
    if (draw(8) == 0) time = draw(embedded_ ? 5 : 50);
    if (!embedded_ && thread_ == 0 && draw(2) == 0) time = draw(longest + 1);
    if (time > 0) std::this_thread::sleep_for(std::chrono::milliseconds{time});
  }

  bool publish_all(const Draft& draft) {
    for (const Run& run : draft.runs) {
      if (!publisher_.publish(run.events, run.routing)) return false;
    }
    return true;
  }

  // A third of what is in doubt is left so.
  bool repeat() {
    const Draft draft = doubtful_.back();
    if (std::hash<std::string>{}(draft.name) % 3 != 0) {
      if (!publish_all(draft)) return false;
      noted(draft, End::committed);
    }
    doubtful_.pop_back();
    return true;
  }

  const Settings& settings_;
  EventPublisher& publisher_;
  const Record& record_;
  int thread_;
  bool embedded_ = false;
  std::mt19937_64 random_;
  std::unique_ptr<Session> session_;
  std::vector<Draft> doubtful_;
  std::uint64_t drafts_ = 0;
  std::uint64_t written_ = 0;
};

int publish(const Settings& settings) {
  const Record record{settings.text("record")};
  const int threads = settings.number("threads", 4);
  auto opened = EventPublisher::open({.store = settings.text("store"), .generation = 1, .connections = threads});
  if (!opened) throw std::runtime_error(opened.error().message);
  const std::uint64_t first = static_cast<std::uint64_t>(settings.number("publisher")) << 32U;
  const int count = settings.number("count", 1 << 30);
  std::atomic<std::uint64_t> next = first + 1;
  Orders orders;
  {
    std::vector<std::jthread> running;
    for (int i = 0; i < threads; ++i) {
      running.emplace_back([&, i] {
        Publishing{settings, *opened, record, i}.run(orders, next, first + 1 + static_cast<std::uint64_t>(count));
      });
    }
    std::cout << "ready" << std::endl;
    if (settings.text("count").empty()) {
      for (std::string line; std::getline(std::cin, line);) orders.wait = line == "wait";
      orders.stop = true;
    }
  }
  std::cout << "published " << next - first - 1 << std::endl;
  return 0;
}

}  // namespace

int main(int count, char** words) {
  try {
    return publish(Settings{count, words});
  } catch (const std::exception& error) {
    std::cerr << "chaos_publisher: " << error.what() << '\n';
    return 1;
  }
}
