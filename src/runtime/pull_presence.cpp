#include "runtime/pull_presence.hpp"

#include <algorithm>

namespace sluice::runtime {
namespace {

constexpr std::size_t kNameMaxBytes = 64;

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view{"._:-@[]"}.find(c) != std::string_view::npos;
}

}  // namespace

Result<void> PullWorker::validate() const {
  if (auto checked = check_handler_name(handler_name); !checked) {
    Error error = std::move(checked).error();
    error.field = "handler";
    return error;
  }
  if (!name.empty() && name.size() <= kNameMaxBytes && std::all_of(name.begin(), name.end(), is_name_char)) return {};
  return invalid("worker", "worker must be 1 to 64 letters, digits and any of . _ : - @ [ ]");
}

PullPresence::PullPresence(store::Claiming& store, Generation generation) : store_(store), generation_(generation) {}

bool PullPresence::is_due(const std::string& identity, TimePoint now) {
  const std::lock_guard lock{mutex_};
  std::erase_if(noted_, [&](const auto& entry) { return now - entry.second >= kInterval / 2; });
  return noted_.emplace(identity, now).second;
}

Result<void> PullPresence::note(const PullWorker& worker) {
  const std::string identity = worker.identity();
  if (!is_due(identity, std::chrono::steady_clock::now())) return {};
  auto announced = store_.announce({identity, generation_, {worker.handler_name}, "pulling", {}, {}});
  if (announced) return {};
  const std::lock_guard lock{mutex_};
  noted_.erase(identity);
  return announced;
}

}  // namespace sluice::runtime
