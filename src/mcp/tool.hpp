// One tool: what an agent reads about it, what it takes and answers, and the use case that it calls.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/payload_redaction.hpp"
#include "host/entropy.hpp"
#include "mcp/allowance.hpp"
#include "ops/arguments.hpp"
#include "store/store.hpp"

namespace sluice::mcp {

using ops::Arguments;
using ops::Parameter;

/// What the tools work with, for the life of the server.
struct Desk {
  store::Store& store;
  host::Entropy entropy;
  RedactionPolicy redaction;
  Allowance allowance;
  std::optional<Generation> generation;  ///< where replays go by default; none: the store's newest live one
  /// Called with each operation that was started, so that somebody carries it out.
  std::function<void(const Uuid& operation)> carry_out;
};

struct Call {
  Desk& desk;
  const Arguments& arguments;
  std::string actor;  ///< who the audit names

  /// The argument `to_generation`, else the server's.
  [[nodiscard]] std::optional<Generation> to_generation() const {
    const auto wanted = arguments.integer("to_generation");
    return wanted ? wanted : desk.generation;
  }
  /// With the argument `reason`, where the tool has one.
  [[nodiscard]] store::Actor audited() const { return {actor, "mcp", arguments.text("reason").value_or("")}; }
};

/// All four are sent for every tool: what is left out counts as the worst.
struct Annotations {
  bool read_only = true;
  bool destructive = false;
  bool idempotent = true;
  bool open_world = false;
};

struct Tool {
  std::string_view name;
  std::string_view title;
  std::string description;
  std::vector<Parameter> parameters;
  std::string output_schema;
  Annotations annotations;
  /// JSON that conforms to output_schema, or an error that the agent can act on.
  Result<std::string> (*run)(const Call& call);
};

std::vector<Tool> dead_letter_tools();
std::vector<Tool> replay_tools();
std::vector<Tool> plan_tools();
std::vector<Tool> status_tools();

/// Every tool, in the order of the list.
const std::vector<Tool>& all_tools();

}  // namespace sluice::mcp
