#include "dispatcher.hpp"

#include <libpq-fe.h>

#include <stdexcept>
#include <vector>

#include "events.hpp"

namespace agent_tasks {
namespace {

using Connection = pg_conn*;

template <class T>
T required(sluice::Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

/// Runs one statement; returns how many rows it changed.
int run(Connection connection, const char* sql, const std::vector<std::string>& parameters = {}) {
  std::vector<const char*> values;
  for (const std::string& parameter : parameters) values.push_back(parameter.c_str());
  const std::unique_ptr<PGresult, decltype(&PQclear)> done{
      PQexecParams(connection, sql, static_cast<int>(values.size()), nullptr, values.data(), nullptr, nullptr, 0),
      PQclear};
  if (PQresultStatus(done.get()) != PGRES_COMMAND_OK) throw std::runtime_error(PQerrorMessage(connection));
  const std::string changed = PQcmdTuples(done.get());
  return changed.empty() ? 0 : std::stoi(changed);
}

/// Rolled back unless it was committed.
class OpenTransaction {
 public:
  explicit OpenTransaction(Connection connection) : connection_(connection) { run(connection_, "begin"); }
  ~OpenTransaction() {
    if (!committed_) PQclear(PQexec(connection_, "rollback"));
  }
  OpenTransaction(const OpenTransaction&) = delete;
  OpenTransaction& operator=(const OpenTransaction&) = delete;
  void commit() {
    run(connection_, "commit");
    committed_ = true;
  }

 private:
  Connection connection_;
  bool committed_ = false;
};

}  // namespace

Dispatcher::Dispatcher(const std::string& store)
    : publisher_(required(sluice::EventPublisher::open({.store = store, .service = "agent_tasks"}))),
      connection_(PQconnectdb(store.c_str()), PQfinish) {
  if (PQstatus(connection_.get()) != CONNECTION_OK) throw std::runtime_error(PQerrorMessage(connection_.get()));
}

// region: dispatch
sluice::Uuid Dispatcher::dispatch(const NewTask& task) {
  const sluice::Uuid id = publisher_.draft().event_id;
  const auto event = required(about<TaskDispatched>(publisher_.draft(), id));
  OpenTransaction transaction{connection_.get()};
  run(connection_.get(),
      "insert into platform.agent_tasks (id, conversation_id, instruction, needs_approval, trigger_event_id)"
      " values ($1, $2, $3, $4, $5)",
      {id.to_string(), task.conversation_id.to_string(), task.instruction, task.needs_approval ? "true" : "false",
       event.event_id().to_string()});
  required(publisher_.publish(event, connection_.get()));
  transaction.commit();
  return id;
}
// end region

bool Dispatcher::approve(const sluice::Uuid& task, const std::string& person) {
  OpenTransaction transaction{connection_.get()};
  const int changed = run(connection_.get(),
                          "update platform.agent_tasks set status = 'approved', approved_by = $2, approved_at = now()"
                          " where id = $1 and status = 'awaiting_approval'",
                          {task.to_string(), person});
  if (changed == 0) return false;
  required(publisher_.publish(required(about<TaskApproved>(publisher_.draft(), task)), connection_.get()));
  transaction.commit();
  return true;
}

}  // namespace agent_tasks
