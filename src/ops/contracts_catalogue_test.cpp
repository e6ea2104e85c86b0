#include "ops/contracts_catalogue.hpp"

#include <gtest/gtest.h>

#include "core/json.hpp"

namespace sluice::ops {
namespace {

ContractFile catalogued_file(const std::string& event_type, int version) {
  return {detail::contract_file_name(event_type, version),
          R"({"x-event-type":")" + event_type + R"(","x-event-version":)" + std::to_string(version) +
              R"(,"description":"Done","type":"object","properties":{ }})" + "\n"};
}

TEST(ContractCatalogue, HasAChannelPerTypeAndAMessagePerVersion) {
  const auto set = ContractSet::read({catalogued_file("a.b", 1), catalogued_file("a.b", 2)});
  ASSERT_TRUE(set);
  EXPECT_EQ(asyncapi(*set, {R"(The "shop", {all})", "7"}), R"({
  "asyncapi": "3.0.0",
  "info": {
    "title": "The \"shop\", {all}",
    "version": "7"
  },
  "defaultContentType": "application/json",
  "channels": {
    "a.b": {
      "address": "a.b",
      "messages": {
        "v1": {
          "$ref": "#/components/messages/a.b.v1"
        },
        "v2": {
          "$ref": "#/components/messages/a.b.v2"
        }
      }
    }
  },
  "operations": {
    "publish.a.b": {
      "action": "send",
      "channel": {
        "$ref": "#/channels/a.b"
      }
    }
  },
  "components": {
    "messages": {
      "a.b.v1": {
        "name": "a.b",
        "title": "a.b, version 1",
        "summary": "Done",
        "payload": {
          "schemaFormat": "application/schema+json;version=draft-07",
          "schema": {
            "x-event-type": "a.b",
            "x-event-version": 1,
            "description": "Done",
            "type": "object",
            "properties": {}
          }
        }
      },
      "a.b.v2": {
        "name": "a.b",
        "title": "a.b, version 2",
        "summary": "Done",
        "payload": {
          "schemaFormat": "application/schema+json;version=draft-07",
          "schema": {
            "x-event-type": "a.b",
            "x-event-version": 2,
            "description": "Done",
            "type": "object",
            "properties": {}
          }
        }
      }
    }
  }
}
)");
}

TEST(ContractCatalogue, IsValidJsonWithSeveralTypes) {
  const auto set = ContractSet::read({catalogued_file("a", 1), catalogued_file("b", 1)});
  ASSERT_TRUE(set);
  const std::string text = asyncapi(*set, {});
  const auto members = json::members(text, "catalogue");
  ASSERT_TRUE(members) << members.error().message;
  const auto channels = json::members((*members)[3].value, "channels");
  ASSERT_TRUE(channels) << channels.error().message;
  ASSERT_EQ(channels->size(), 2U);
  const auto second = json::members((*channels)[1].value, "channel");
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ((*second)[0].value, R"("b")");
}

}  // namespace
}  // namespace sluice::ops
