// Sinks: where daemons deliver to, which of them take no deliveries and why, and switching them for all daemons.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <sluice/envelope.hpp>
#include "host/entropy.hpp"
#include "store/administer.hpp"

namespace sluice::ops {

/// not_found, with the way to the list, when no daemon ever declared it.
Result<store::SinkRecord> find_sink(store::Administering& store, const std::string& name);

/// Every sink that a daemon ever declared, by name, and the store's clock.
Result<store::SinkRecords> list_sinks(store::Administering& store);

/// Both for all daemons, and audited: they need a reason. What is so already is answered.
Result<store::SinkRecord> pause_sink(store::Administering& store, const std::string& name, const store::Actor& actor);
/// Also after its receiver was gone; closes its circuit.
Result<store::SinkRecord> resume_sink(store::Administering& store, const std::string& name, const store::Actor& actor);

/// Sinks that take no deliveries although somebody subscribes through them, by name. The others keep no event waiting.
Result<std::vector<store::SinkRecord>> stopped_sinks(store::Administering& store);

/// active, paused, disabled, open, or half_open: rested, and one event is tried next.
std::string_view state_name(const store::SinkRecord& sink, Timestamp now);
/// What it is: `paused by alice`; empty for one that takes deliveries.
std::string how_stopped(const store::SinkRecord& sink);
/// `since 2026-11-18T11:42:31Z: maintenance`; empty for one that takes deliveries.
std::string since_stopped(const store::SinkRecord& sink);
/// Both.
std::string why_stopped(const store::SinkRecord& sink);
/// What to do about it: a command.
std::string help_stopped(const store::SinkRecord& sink);

/// How a trial delivery went.
struct Trial {
  bool ok = false;
  std::string status;  ///< in one word: `200`, `http_503`, `timeout`, `handled`
  std::string detail;  ///< what the receiver said, made harmless
  Duration took{};
};
/// What a trial delivers: an event that is in no store.
EventEnvelope trial_event(const host::Entropy& entropy);

std::string to_json(const Trial& trial);

std::string to_json(const store::SinkRecord& sink, Timestamp now);

}  // namespace sluice::ops
