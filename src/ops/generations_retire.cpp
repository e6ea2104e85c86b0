#include "ops/generations_retire.hpp"

#include <utility>

#include "core/json_object.hpp"
#include "core/try.hpp"
#include "core/words.hpp"
#include "ops/audit.hpp"
#include "ops/generations.hpp"

namespace sluice::ops {
namespace {

std::string about(std::int64_t count, const std::string& noun, bool estimated) {
  return count_text(count, estimated) + ' ' + noun + (count == 1 ? "" : "s");
}

std::optional<std::string> wrong_state(const GenerationStatus& status) {
  switch (*status.state) {
    case GenerationState::allocated:
      return "it is allocated and was never live";
    case GenerationState::live:
      return "it is live: drain it first, `sluice generation drain " + std::to_string(status.generation) + "`";
    case GenerationState::retired:
      return "it is retired already";
    case GenerationState::draining:
      break;
  }
  return std::nullopt;
}

std::string pending_sentence(const RetireCheck& check) {
  const GenerationStatus& status = check.status;
  std::string text = about(status.pending, "event", status.pending_estimated) + " pending";
  if (status.waiting > 0) text += ", " + std::to_string(status.waiting) + " of them not due yet";
  if (check.next_due) text += ", the next at " + to_iso8601(*check.next_due);
  return text;
}

std::string workers_sentence(const std::vector<std::string>& workers) {
  std::string text = counted(static_cast<std::int64_t>(workers.size()), "worker") + " alive:";
  for (const std::string& identity : workers) text += ' ' + identity;
  return text;
}

std::string name_publisher(const store::OpenPublisher& publisher) {
  std::string text;
  if (publisher.pid == 0) {
    text = "prepared transaction '" + publisher.gid + "' of user " + publisher.user;
  } else {
    text = "pid " + std::to_string(publisher.pid) + " (" +
           (publisher.application.empty() ? "" : publisher.application + ", ") + "user " +
           (publisher.user.empty() ? "unknown" : publisher.user) + ')';
  }
  return text + (publisher.since ? " since " + to_iso8601(*publisher.since) : "");
}

std::string end_publisher(const store::OpenPublisher& publisher) {
  if (publisher.pid == 0) return "commit prepared or rollback prepared '" + publisher.gid + "', then try again";
  return "wait until it ends, or end it: select pg_terminate_backend(" + std::to_string(publisher.pid) + ")";
}

std::string publisher_json(const store::OpenPublisher& publisher) {
  JsonObject object;
  if (publisher.pid == 0) {
    object.raw("pid", "null").text("gid", publisher.gid);
  } else {
    object.number("pid", publisher.pid).raw("gid", "null");
  }
  return object.text("user", publisher.user)
      .text("application", publisher.application)
      .time("since", publisher.since)
      .str();
}

std::string publishers_sentence(const std::vector<store::OpenPublisher>& publishers) {
  std::string text = counted(static_cast<std::int64_t>(publishers.size()), "transaction") +
                     " older than the drain may still publish into it:";
  for (const auto& one : publishers) text += (&one == publishers.data() ? " " : ", ") + name_publisher(one);
  return text;
}

void judge(RetireCheck& check) {
  const GenerationStatus& status = check.status;
  const std::string number = std::to_string(status.generation);
  if (auto sentence = wrong_state(status)) check.blockers.push_back(*std::move(sentence));
  if (!check.publishers.empty()) check.blockers.push_back(publishers_sentence(check.publishers));
  if (status.pending > 0) check.blockers.push_back(pending_sentence(check));
  if (status.in_flight > 0) check.blockers.push_back(counted(status.in_flight, "event") + " in flight");
  if (status.abandoned()) {
    check.remarks.push_back(in_words(status) + ": start a worker with --generation " + number +
                            ", or move the events, `sluice generation reroute " + number + " --to M`");
  }
  if (!check.workers.empty()) check.remarks.push_back(workers_sentence(check.workers));
  if (status.failed > 0) {
    check.remarks.push_back(about(status.failed, "failed event", status.failed_estimated) +
                            ": not in the way, and can be replayed into another generation");
  }
}

}  // namespace

Result<RetireCheck> check_retire(store::Administering& store, Generation generation) {
  // First: what those leave behind who end meanwhile is counted.
  SLUICE_TRY(auto publishers, store.open_publishers(generation));
  SLUICE_TRY(const auto survey, survey_generations(store));
  RetireCheck check;
  check.publishers = std::move(publishers);
  check.status = survey.of(generation);
  if (!check.status.state) return unknown_generation(generation);
  if (check.status.waiting > 0) {
    SLUICE_TRY(check.next_due, store.next_due(generation, {}));
  }
  for (const auto& worker : survey.workers) {
    if (worker.generation == generation) check.workers.push_back(worker.identity);
  }
  judge(check);
  return check;
}

Result<void> allow_retire(const RetireCheck& check, bool force) {
  const GenerationStatus& status = check.status;
  const std::string title = "generation " + std::to_string(status.generation);
  if (!is_legal(*status.state, GenerationState::retired)) {
    return Error{ErrorCode::conflict, Retry::never, title + " cannot be retired: " + check.blockers.front(),
                 "generation", "only a draining generation can be retired"};
  }
  if (check.retirable() || (force && check.publishers.empty())) return {};
  std::string message = title + " cannot be retired:";
  for (const std::string& blocker : check.blockers)
    message += (&blocker == check.blockers.data() ? " " : "; ") + blocker;
  return Error{ErrorCode::conflict, Retry::never, std::move(message), "generation",
               check.publishers.empty()
                   ? "let its workers finish, or move the events with `sluice generation reroute`; --force leaves them "
                     "behind"
                   : end_publisher(check.publishers.front())};
}

Result<store::Deployment> retire_generation(store::Administering& store, Generation generation, bool force,
                                            const store::Actor& actor) {
  SLUICE_CHECK(check_optional_reason(actor.reason));
  SLUICE_TRY(const auto check, check_retire(store, generation));
  SLUICE_CHECK(allow_retire(check, force));
  return store.move_generation(generation, GenerationState::retired, actor);
}

std::string to_json(const RetireCheck& check) {
  const GenerationStatus& status = check.status;
  std::vector<std::string> publishers;
  for (const store::OpenPublisher& one : check.publishers) publishers.push_back(publisher_json(one));
  return JsonObject{}
      .number("generation", status.generation)
      .text("state", name(*status.state))
      .boolean("retirable", check.retirable())
      .number("pending", status.pending)
      .number("waiting", status.waiting)
      .time("next_due_at", check.next_due)
      .number("in_flight", status.in_flight)
      .number("failed", status.failed)
      .array("publishers", publishers)
      .texts("workers", check.workers)
      .boolean("abandoned", status.abandoned())
      .texts("blockers", check.blockers)
      .texts("remarks", check.remarks)
      .texts("estimated", estimates(status))
      .str();
}

}  // namespace sluice::ops
