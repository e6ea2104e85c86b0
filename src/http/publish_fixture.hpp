// What the tests of the ways in share: an endpoint on a real store, whose queue the test steps by hand.
#pragma once

#include <gtest/gtest.h>
#include <optional>

#include "http/router.hpp"
#include "http/routes_publish.hpp"
#include "mcp/message.hpp"
#include "tests/support/embedded_store.hpp"
#include "tests/support/faulty_administering.hpp"

namespace sluice::http {

class PublishFixture : public testing::Test {
 protected:
  /// The answer to a request that is answered by the first of the routes.
  Response ask(const std::vector<Route>& routes, Request request, const std::string& source = {}) {
    std::optional<Response> answer;
    int answers = 0;
    Call call{std::move(request), {Role::operator_, "test"}, {}};
    if (!source.empty()) call.path.emplace("source", source);
    routes.front().later(std::move(call), [&](Response response) {
      ++answers;
      answer = std::move(response);
    });
    while (queue_.step()) {
    }
    EXPECT_EQ(answers, 1);
    return answer.value_or(Response{});
  }

  Timestamp now_ = test::kStart;
  test::EmbeddedStore store_;
  test::FaultyAdministering faulty_{store_};
  ops::PublishQueue queue_{faulty_};
  std::string log_;
  PublishEndpointOptions options_{{[this] { return now_; },
                                   [] {
                                     return std::array<std::uint8_t, 10>{1, 2, 3};
                                   }},
                                  {.payload_bytes = 1024},
                                  7,
                                  {[this](std::string_view line) { log_ += line; }, {}}};
  PublishEndpoint endpoint_{queue_, faulty_, options_};
};

/// The text of a member of a JSON answer; empty when it has none.
inline std::string text_of(const Response& response, std::string_view name) {
  return mcp::text_member(response.body, name).value_or("");
}

}  // namespace sluice::http
