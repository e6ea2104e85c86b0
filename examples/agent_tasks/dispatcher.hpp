// Dispatcher: what the API of the platform does with agent tasks. Each change of a task that needs a worker
// commits together with the event that calls one.
#pragma once

#include <memory>
#include <string>

#include <sluice/publisher.hpp>

struct pg_conn;

namespace agent_tasks {

struct NewTask {
  sluice::Uuid conversation_id;
  std::string instruction;
  bool needs_approval = false;
};

class Dispatcher {
 public:
  /// `store` is the address of the PostgreSQL database that has both schemas. Throws what went wrong.
  explicit Dispatcher(const std::string& store);

  /// Inserts the task and dispatches it; returns its id.
  sluice::Uuid dispatch(const NewTask& task);

  /// A person agrees with the result. False when no result of this task waits for approval.
  bool approve(const sluice::Uuid& task, const std::string& person);

 private:
  sluice::EventPublisher publisher_;
  std::unique_ptr<pg_conn, void (*)(pg_conn*)> connection_;
};

}  // namespace agent_tasks
