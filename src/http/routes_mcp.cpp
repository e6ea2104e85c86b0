#include "http/routes_mcp.hpp"

#include <utility>

#include "http/message.hpp"
#include "mcp/transport.hpp"

namespace sluice::http {
namespace {

std::optional<std::string> text(const Request& request, std::string_view header) {
  const auto value = request.header(header);
  return value ? std::optional<std::string>{*value} : std::nullopt;
}

}  // namespace

std::shared_ptr<McpEndpoint::Seat> McpEndpoint::seat_of(const Caller& caller) {
  const std::lock_guard lock{mutex_};
  const Timestamp now = context_.entropy.clock();
  std::shared_ptr<Seat>& seat = seats_[caller.name + '/' + std::string{name(caller.role)}];
  if (seat && now - seat->since < options_.refill) return seat;
  mcp::Limits limits = options_.limits;
  limits.read_only = limits.read_only || caller.role < Role::operator_;
  seat = std::make_shared<Seat>(mcp::Context{context_.store, context_.entropy, options_.redaction,
                                             mcp::Allowance{limits}, std::nullopt, [this](const Uuid&) {
                                               if (context_.wake) context_.wake();
                                             }});
  seat->context.tracer = context_.tracer;
  seat->context.trace_url = context_.trace_url;
  seat->context.edit = context_.edit;
  seat->context.edit.enabled = context_.edit.enabled && caller.role >= Role::admin;
  seat->since = now;
  return seat;
}

void McpEndpoint::configure(McpOptions options) {
  const std::lock_guard lock{mutex_};
  options_ = std::move(options);
  seats_.clear();
}

Response McpEndpoint::answer(const Call& call) {
  const Request& request = call.request;
  if (media_type(request) != "application/json") {
    return problem(415, "unsupported_media", "send one JSON-RPC message, with Content-Type: application/json");
  }
  const auto seat = seat_of(call.caller);
  const std::lock_guard lock{seat->mutex};
  const mcp::HttpOutcome outcome = mcp::exchange(
      {text(request, "mcp-protocol-version"), text(request, "mcp-method"), text(request, "mcp-name"), request.body,
       text(request, "mcp-session-id"), make_uuid_v7(context_.entropy.clock(), context_.entropy.random()).to_string()},
      seat->tools, {context_.version, call.caller.name, std::nullopt});
  if (outcome.body.empty()) return {outcome.status, {}, {}, {}};
  Response response = json_response(outcome.status, outcome.body);
  if (outcome.session) response.with("Mcp-Session-Id", *outcome.session);
  return response;
}

std::vector<Route> mcp_routes(McpEndpoint& endpoint) {
  return {{"POST",
           "/mcp",
           Role::viewer,
           mcp::kMaxMessageBytes,
           [&endpoint](const Call& call) { return endpoint.answer(call); },
           {}}};
}

}  // namespace sluice::http
