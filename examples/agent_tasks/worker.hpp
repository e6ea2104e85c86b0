// Worker: executes agent tasks, each exactly once as far as the database is concerned.
#pragma once

#include <functional>
#include <string>

#include <sluice/handler.hpp>
#include <sluice/listener.hpp>
#include <sluice/publisher.hpp>

namespace agent_tasks {

/// The agent: an instruction in, a result out. Its calls to the outside are at least once; the task's id is
/// their idempotency key.
using Agent = std::function<std::string(const sluice::Uuid& task, const std::string& instruction)>;

class Worker {
 public:
  Worker(sluice::EventPublisher& publisher, Agent agent) : publisher_(publisher), agent_(std::move(agent)) {}

  /// agent.task.dispatched: executes the task. Its result waits for a person, or goes on at once.
  void execute(const sluice::EventEnvelope& event, sluice::Transaction& transaction);

  /// agent.task.approved: puts the result into the conversation.
  void deliver(const sluice::EventEnvelope& event, sluice::Transaction& transaction);

  /// Registers both. The worker outlives the listener.
  sluice::Result<void> listen(sluice::EventListener& listener);

 private:
  sluice::EventPublisher& publisher_;
  Agent agent_;
};

}  // namespace agent_tasks
