#include "ops/workers.hpp"

#include <utility>

#include "core/json_object.hpp"

namespace sluice::ops {
namespace {

constexpr Duration kRemembered = std::chrono::hours{24};

}  // namespace

Result<WorkerList> list_workers(store::Store& store) {
  const auto now = store.now();
  if (!now) return now.error();
  auto workers = store.workers(kRemembered);
  if (!workers) return std::move(workers).error();
  return WorkerList{*now, *std::move(workers)};
}

Result<std::vector<store::WorkerRecord>> live_workers(store::Registering& store) { return store.workers(kAliveWithin); }

bool is_alive(const store::WorkerRecord& worker, Timestamp now) { return worker.seen_at > now - kAliveWithin; }

bool is_listening(const store::WorkerRecord& worker) {
  // One that pulls is woken by the daemon that it asks; one that starts looks before it rests.
  return worker.listener == "listening" || worker.listener == "pulling" || worker.listener == "starting";
}

std::string to_json(const store::WorkerRecord& worker, Timestamp now) {
  return JsonObject{}
      .text("identity", worker.identity)
      .number("generation", worker.generation)
      .texts("handlers", worker.handlers)
      .text("listener", worker.listener)
      .time("started_at", worker.started_at)
      .time("seen_at", worker.seen_at)
      .boolean("alive", is_alive(worker, now))
      .str();
}

}  // namespace sluice::ops
