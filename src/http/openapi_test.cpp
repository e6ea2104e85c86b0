// The contract and the routes name each other completely.
#include "http/openapi.hpp"

#include <gtest/gtest.h>

#include <set>

#include "core/json.hpp"
#include "http/api.hpp"
#include "http/claims_body.hpp"
#include "http/routes.hpp"
#include "tests/support/embedded_store.hpp"

namespace sluice::http {
namespace {

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::vector<json::Member> members(std::string_view object) {
  auto found = json::members(object, "openapi");
  EXPECT_TRUE(found);
  return found ? *std::move(found) : std::vector<json::Member>{};
}

std::string_view member(std::string_view object, std::string_view name) {
  for (const auto& [key, value] : members(object)) {
    if (key == name) return value;
  }
  ADD_FAILURE() << "no " << name;
  return "{}";
}

// `GET /v1/me viewer`
std::set<std::string> documented() {
  std::set<std::string> found;
  for (const auto& [path, methods] : members(member(kOpenApi, "paths"))) {
    for (const auto& [method, operation] : members(methods)) {
      found.insert(upper(method) + ' ' + path + ' ' + *json::string_value(member(operation, "x-role"), "role"));
    }
  }
  return found;
}

TEST(OpenApi, TellsTheBoundsOfAClaim) {
  std::string_view schema = member(member(kOpenApi, "paths"), "/v1/claims");
  for (const char* name : {"post", "requestBody", "content", "application/json", "schema", "properties"}) {
    schema = member(schema, name);
  }
  const auto expect_bounds = [&](const char* name, const ClaimBounds& bounds) {
    const std::string_view property = member(schema, name);
    EXPECT_EQ(member(property, "minimum"), std::to_string(bounds.least)) << name;
    EXPECT_EQ(member(property, "maximum"), std::to_string(bounds.most)) << name;
    EXPECT_EQ(member(property, "default"), std::to_string(bounds.standard)) << name;
  };
  expect_bounds("limit", kClaimLimit);
  expect_bounds("wait_seconds", kClaimWaitSeconds);
  expect_bounds("ttl_seconds", kClaimTtlSeconds);
}

TEST(OpenApi, NamesEveryRouteWithItsRoleAndNoOther) {
  test::EmbeddedStore store;
  Context context{*store, host::Entropy::system()};
  ops::PublishQueue queue{*store};
  PublishEndpoint publishing{
      queue, *store, {host::Entropy::system(), {}, 1, telemetry::Logger{[](std::string_view) {}, {}}}};
  McpEndpoint mcp{context, {}};
  EventStream streams{context};
  runtime::PullPresence presence{store.whole(), kFirstGeneration};
  runtime::PullSettling settling{store.whole(), presence, {}, {{}, [] { return 0.5; }}};
  runtime::PullClaims pulling{store.whole(), settling, presence, {}};
  std::set<std::string> served;
  std::set<std::string> console;
  for (const Route& route : console_routes({})) console.insert(route.pattern);
  const Router router = api_router({context, publishing, mcp, streams, {pulling, settling}}, {});
  for (const Route& route : router.routes()) {
    if (console.contains(route.pattern)) continue;
    served.insert(route.method + ' ' + route.pattern + ' ' + std::string{name(route.role)});
  }
  EXPECT_EQ(served, documented());
}

}  // namespace
}  // namespace sluice::http
