// What a call from outside takes (an MCP tool, an HTTP request): one table, from which its schema is written and
// what was given is checked; and the JSON of an error, the same on every surface.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/result.hpp>
#include <sluice/uuid.hpp>
#include "core/json.hpp"
#include "ops/audit.hpp"

namespace sluice::ops {

struct Parameter {
  enum class Type {
    text,
    any_text,  ///< also an empty or a long one, with whatever characters
    reason,    ///< why a change is made, checked as check_reason does; optional: as check_optional_reason does
    uuid,
    event_id,  ///< a text: the id of an event, or its beginning (ops::whole_id)
    integer,
    boolean,
    object,  ///< JSON text of an object, as it was written
    uuids,
    texts,
  };
  std::string_view name;
  Type type = Type::text;
  bool required = false;
  std::string_view description;
  std::int64_t least = std::numeric_limits<std::int64_t>::min();  ///< of an integer
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  std::optional<std::int64_t> standard{};  ///< of an integer: what counts when it is left out
};

/// No list may be longer.
inline constexpr std::size_t kMaxListed = 10'000;

/// The schema of an object with exactly these members, draft 2020-12.
std::string input_schema(const std::vector<Parameter>& parameters);

/// Checked values. A name that is asked for must be one of the parameters.
class Arguments {
 public:
  /// `json` is the text of an object; empty: no arguments. The error is `invalid` and names the argument.
  static Result<Arguments> read(const std::vector<Parameter>& parameters, std::string_view json,
                                const json::Limits& limits = {});

  /// Also of an object.
  [[nodiscard]] std::optional<std::string> text(std::string_view name) const;
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view name) const;
  /// Of a required parameter of the type uuid.
  [[nodiscard]] Uuid uuid(std::string_view name) const;
  /// False when it was not given.
  [[nodiscard]] bool flag(std::string_view name) const;
  /// Empty when it was not given.
  [[nodiscard]] std::vector<Uuid> uuids(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> texts(std::string_view name) const;

 private:
  Result<void> take(const Parameter& parameter, std::string_view raw, const json::Limits& limits);
  Result<void> take_list(const Parameter& parameter, std::string_view raw);

  std::map<std::string, std::string, std::less<>> texts_;
  std::map<std::string, std::int64_t, std::less<>> integers_;
  std::map<std::string, Uuid, std::less<>> uuids_;
  std::map<std::string, bool, std::less<>> flags_;
  std::map<std::string, std::vector<Uuid>, std::less<>> uuid_lists_;
  std::map<std::string, std::vector<std::string>, std::less<>> text_lists_;
};

// The JSON of an error, the same on every surface.

/// `{"error":{"code":…,"message":…,"field":…,"hint":…,"retry":…}}`
std::string to_json(const Error& error);

}  // namespace sluice::ops
