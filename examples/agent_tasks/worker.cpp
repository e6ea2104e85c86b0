#include "worker.hpp"

#include "events.hpp"

namespace agent_tasks {
namespace {

template <class Payload>
sluice::Uuid task_of(const sluice::EventEnvelope& event) {
  const auto payload = sluice::read_payload<Payload>(event);
  if (!payload) throw sluice::PayloadError{payload.error().message};
  return payload->agent_task_id;
}

}  // namespace

// region: execute
void Worker::execute(const sluice::EventEnvelope& event, sluice::Transaction& transaction) {
  const sluice::Uuid task = task_of<TaskDispatched>(event);
  const auto rows = transaction.query(
      "select instruction, needs_approval from platform.agent_tasks where id = $1 and status = 'queued' for update",
      {task.to_string()});
  if (rows.empty()) return;  // it has moved on, or was swept
  const std::string result = agent_(task, rows[0][0].value());
  const bool needs_approval = rows[0][1] == "t";
  transaction.execute(
      "with result as (insert into platform.agent_results (agent_task_id, body) values ($1, $2) returning id)"
      " update platform.agent_tasks set status = $3, result_id = (select id from result), executed_at = now()"
      " where id = $1",
      {task.to_string(), result, needs_approval ? "awaiting_approval" : "approved"});
  if (needs_approval) return;  // a person's turn, not a worker's

  const auto approved = about<TaskApproved>(publisher_.draft(), task);
  if (!approved) throw sluice::TerminalError{approved.error().message};
  const auto published = publisher_.publish(*approved, transaction.postgres());
  if (!published) throw std::runtime_error(published.error().message);
}
// end region

void Worker::deliver(const sluice::EventEnvelope& event, sluice::Transaction& transaction) {
  const sluice::Uuid task = task_of<TaskApproved>(event);
  const std::int64_t done = transaction.execute(
      "update platform.agent_tasks set status = 'done', finished_at = now() where id = $1 and status = 'approved'",
      {task.to_string()});
  if (done == 0) return;
  transaction.execute(
      "insert into platform.conversation_messages (conversation_id, agent_task_id, body)"
      " select t.conversation_id, t.id, r.body from platform.agent_tasks t join platform.agent_results r on r.id = "
      "t.result_id"
      " where t.id = $1",
      {task.to_string()});
}

sluice::Result<void> Worker::listen(sluice::EventListener& listener) {
  auto executing = listener.listen(
      {.handler_name = "platform.agent_task_executor", .events = {std::string{TaskDispatched::kEventType}}},
      [this](const sluice::EventEnvelope& event, sluice::Transaction& transaction) { execute(event, transaction); });
  if (!executing) return executing;
  return listener.listen(
      {.handler_name = "platform.agent_task_deliverer", .events = {std::string{TaskApproved::kEventType}}},
      [this](const sluice::EventEnvelope& event, sluice::Transaction& transaction) { deliver(event, transaction); });
}

}  // namespace agent_tasks
