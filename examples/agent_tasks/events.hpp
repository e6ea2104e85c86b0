// The events of agent tasks. They carry the task's id and nothing else: the row is the truth.
#pragma once

#include <string_view>
#include <tuple>

#include <sluice/payload.hpp>

namespace agent_tasks {

/// A task waits for a worker to execute it.
struct TaskDispatched {
  static constexpr std::string_view kEventType = "agent.task.dispatched";
  static constexpr int kEventVersion = 1;
  sluice::Uuid agent_task_id;
  static constexpr auto fields() { return std::tuple{sluice::field("agent_task_id", &TaskDispatched::agent_task_id)}; }
};

/// A task's result may be used: it waits for a worker to put it into the conversation.
struct TaskApproved {
  static constexpr std::string_view kEventType = "agent.task.approved";
  static constexpr int kEventVersion = 1;
  sluice::Uuid agent_task_id;
  static constexpr auto fields() { return std::tuple{sluice::field("agent_task_id", &TaskApproved::agent_task_id)}; }
};

/// An envelope from the platform to itself.
template <sluice::EventPayload Payload>
sluice::Result<sluice::EventEnvelope> about(sluice::EnvelopeDraft draft, const sluice::Uuid& task) {
  draft.source = "platform";
  draft.target = "platform";
  sluice::set_payload(draft, Payload{task});
  return sluice::EventEnvelope::make(std::move(draft));
}

}  // namespace agent_tasks
