#include "mcp/operation_carrier.hpp"

#include <algorithm>

namespace sluice::mcp {
namespace {

constexpr Duration kIdle = std::chrono::hours{1};  // add() wakes it
constexpr Duration kAfterAnError = std::chrono::seconds{1};

}  // namespace

void OperationCarrier::start() {
  thread_ = std::jthread{[this](const std::stop_token& stop) { run(stop); }};
}

std::vector<Uuid> OperationCarrier::stop() {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
  const std::lock_guard lock{mutex_};
  // An error leaves the lease to end by itself.
  for (const Uuid& operation : operations_) (void)runner_.release(operation);
  return operations_;
}

void OperationCarrier::add(const Uuid& operation) {
  {
    const std::lock_guard lock{mutex_};
    operations_.push_back(operation);
    added_ = true;
  }
  changed_.notify_all();
}

Duration OperationCarrier::step() {
  std::vector<Uuid> operations;
  {
    const std::lock_guard lock{mutex_};
    operations = operations_;
    added_ = false;
  }
  Duration rest = kIdle;
  for (const Uuid& operation : operations) rest = std::min(rest, step(operation));
  return rest;
}

Duration OperationCarrier::step(const Uuid& operation) {
  const auto stepped = runner_.step(operation);
  if (!stepped && stepped.error().retry != Retry::never) return kAfterAnError;
  if (stepped && !is_over(stepped->operation.progress.state)) return stepped->rest;
  note_("operation " + operation.to_string() + ' ' +
        (stepped ? "is " + std::string{name(stepped->operation.progress.state)}
                 : "cannot be carried out: " + stepped.error().message));
  const std::lock_guard lock{mutex_};
  std::erase(operations_, operation);
  return kIdle;
}

void OperationCarrier::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const Duration rest = step();
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, stop, rest, [this] { return added_; });
  }
}

}  // namespace sluice::mcp
