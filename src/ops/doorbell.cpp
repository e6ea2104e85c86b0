#include "ops/doorbell.hpp"

#include <utility>

#include "core/try.hpp"
#include "ops/audit.hpp"

namespace sluice::ops {
namespace {

Result<void> check_doorbell(const store::Store& store) {
  if (store.capabilities().listen) return {};
  Error error =
      invalid("store", store.display_name() +
                           " has no doorbell: an embedded store wakes its own process and is polled by others");
  error.hint = "doorbell modes are for PostgreSQL; give --store postgres://…";
  return error;
}

}  // namespace

std::optional<store::DoorbellMode> parse_doorbell(std::string_view text) {
  for (const auto mode : {store::DoorbellMode::always, store::DoorbellMode::when_idle}) {
    if (text == store::name(mode)) return mode;
  }
  return std::nullopt;
}

Result<store::DoorbellMode> doorbell(store::Store& store) {
  if (auto checked = check_doorbell(store); !checked) return std::move(checked).error();
  return store.doorbell();
}

Result<void> set_doorbell(store::Store& store, store::DoorbellMode mode, const store::Actor& actor) {
  if (auto checked = check_doorbell(store); !checked) return checked;
  SLUICE_CHECK(check_optional_reason(actor.reason));
  return store.set_doorbell(mode, actor);
}

}  // namespace sluice::ops
