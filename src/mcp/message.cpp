#include "mcp/message.hpp"

#include <optional>

#include "core/json.hpp"
#include "core/json_object.hpp"

namespace sluice::mcp {
namespace {

constexpr std::string_view kMessageField = "message";

Fault invalid_request(std::string message, std::string id = "null") {
  return {FaultCode::invalid_request, std::move(message), {}, std::move(id)};
}

// A string or a whole number: null and fractions cannot be told apart in an answer.
bool is_id(std::string_view raw) {
  if (raw.starts_with('"')) return true;
  return raw.find_first_not_of("-0123456789") == std::string_view::npos;
}

struct Parts {
  std::optional<std::string_view> version, id, method, params;
  bool answer = false;  ///< has a result or an error
};

Parts parts_of(const std::vector<json::Member>& members) {
  Parts parts;
  for (const auto& [name, value] : members) {
    if (name == "jsonrpc") parts.version = value;
    if (name == "id") parts.id = value;
    if (name == "method") parts.method = value;
    if (name == "params") parts.params = value;
    if (name == "result" || name == "error") parts.answer = true;
  }
  return parts;
}

}  // namespace

std::optional<std::string_view> member(std::string_view object, std::string_view name) {
  const auto members = json::members(object, name);
  if (!members) return std::nullopt;
  for (const auto& one : *members) {
    if (one.name == name) return one.value;
  }
  return std::nullopt;
}

std::optional<std::string> text_member(std::string_view object, std::string_view name) {
  const auto raw = member(object, name);
  auto text = json::string_value(raw.value_or(""), name);
  return text ? std::optional{*std::move(text)} : std::nullopt;
}

std::variant<Message, Fault> read_message(std::string_view text) {
  const auto kind = json::check(text, kMessageField);
  if (!kind) return Fault{FaultCode::parse_error, kind.error().message};
  const auto members = json::members(text, kMessageField);
  if (!members) return invalid_request(members.error().message);
  const Parts parts = parts_of(*members);
  if (parts.id && !is_id(*parts.id)) return invalid_request("id must be a string or a whole number");
  const std::string id{parts.id.value_or("null")};
  if (parts.version != R"("2.0")") return invalid_request(R"(jsonrpc must be "2.0")", id);
  if (!parts.method && parts.answer) return Message{Message::Kind::response, id, {}, {}};
  auto method = json::string_value(parts.method.value_or(""), "method");
  if (!method) return invalid_request("method must be a string", id);
  if (!parts.id) return Message{Message::Kind::notification, {}, *std::move(method), {}};
  if (parts.params && !parts.params->starts_with('{')) {
    return Fault{FaultCode::invalid_params, "params must be an object", {}, id};
  }
  return Message{Message::Kind::request, id, *std::move(method), parts.params.value_or("")};
}

std::string result_message(std::string_view id, std::string_view result) {
  return JsonObject{}.text("jsonrpc", "2.0").raw("id", id).raw("result", result).str();
}

std::string fault_message(const Fault& fault) {
  JsonObject error;
  error.number("code", static_cast<int>(fault.code)).text("message", fault.message);
  if (!fault.data.empty()) error.raw("data", fault.data);
  return JsonObject{}.text("jsonrpc", "2.0").raw("id", fault.id).raw("error", error.str()).str();
}

}  // namespace sluice::mcp
