#include "ops/generations.hpp"

#include <algorithm>
#include <utility>

#include "core/json_object.hpp"
#include "core/try.hpp"
#include "ops/audit.hpp"

namespace sluice::ops {
namespace {

const store::Deployment* find(const std::vector<store::Deployment>& all, Generation generation) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.generation == generation; });
  return found == all.end() ? nullptr : &*found;
}

Error refuse(ErrorCode code, std::string message, std::string hint) {
  return {code, Retry::never, std::move(message), "generation", std::move(hint)};
}

}  // namespace

Result<Generation> preview_allocation(store::Administering& store, std::optional<Generation> wanted) {
  const auto all = store.deployments();
  if (!all) return all.error();
  if (!wanted) return all->empty() ? kFirstGeneration : all->back().generation + 1;
  if (find(*all, *wanted) != nullptr) {
    return refuse(ErrorCode::conflict, "generation " + std::to_string(*wanted) + " exists already",
                  "leave the number out to get the next free one");
  }
  return *wanted;
}

Result<store::Deployment> allocate_generation(store::Administering& store, std::optional<Generation> wanted,
                                              const std::string& note, const store::Actor& actor) {
  if (wanted && *wanted < kFirstGeneration) {
    return invalid("generation", "generation must be a whole number of at least 1");
  }
  if (note.size() > kMaxTextBytes) {
    return invalid("note", "note must be a text of at most " + std::to_string(kMaxTextBytes) + " bytes");
  }
  SLUICE_CHECK(check_optional_reason(actor.reason));
  return store.allocate_generation(wanted, note, actor);
}

Result<Generation> default_generation(store::Administering& store) { return store.default_generation(); }

Result<store::Deployment> preview_move(store::Administering& store, Generation generation, GenerationState to) {
  const auto all = store.deployments();
  if (!all) return all.error();
  const store::Deployment* deployment = find(*all, generation);
  const std::string title = "generation " + std::to_string(generation);
  if (deployment == nullptr) return unknown_generation(generation);
  if (deployment->state != to && !is_legal(deployment->state, to)) {
    return refuse(ErrorCode::conflict,
                  title + " is " + std::string{name(deployment->state)} + " and cannot become " + std::string{name(to)},
                  "`sluice generation list` shows the states");
  }
  return *deployment;
}

Result<MovedGeneration> move_generation(store::Administering& store, Generation generation, GenerationState to,
                                        const store::Actor& actor) {
  SLUICE_CHECK(check_optional_reason(actor.reason));
  auto moved = store.move_generation(generation, to, actor);
  if (moved) return MovedGeneration{*std::move(moved), true};
  if (moved.error().code != ErrorCode::conflict) return std::move(moved).error();
  // Asked for afterwards: between a look and the change somebody else may have done it.
  const auto all = store.deployments();
  if (!all) return all.error();
  const store::Deployment* deployment = find(*all, generation);
  if (deployment == nullptr || deployment->state != to) return std::move(moved).error();
  return MovedGeneration{*deployment, false};
}

Error unknown_generation(Generation generation) {
  return refuse(ErrorCode::not_found, "generation " + std::to_string(generation) + " does not exist",
                "`sluice generation list` shows what there is");
}

std::string to_json(const store::Deployment& deployment) {
  return JsonObject{}
      .number("generation", deployment.generation)
      .text("state", name(deployment.state))
      .text("note", deployment.note)
      .text("changed_by", deployment.changed_by)
      .time("allocated_at", deployment.allocated_at)
      .time("activated_at", deployment.activated_at)
      .time("draining_at", deployment.draining_at)
      .time("retired_at", deployment.retired_at)
      .str();
}

}  // namespace sluice::ops
