// Tools over a real embedded store: a call in, the structured answer or the error out.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/json.hpp"
#include "mcp/message.hpp"
#include "mcp/toolbox.hpp"
#include "tests/support/embedded_store.hpp"

namespace sluice::mcp {

class ToolFixture : public testing::Test {
 protected:
  explicit ToolFixture(Limits limits = {})
      : context{*store, an_entropy(), {}, Allowance{limits}, std::nullopt, remember()} {}

  struct Answered {
    bool failed = false;
    std::string json;  ///< structuredContent, or the error's object

    [[nodiscard]] std::string text(std::string_view name) const { return text_member(json, name).value_or("(none)"); }
    [[nodiscard]] std::string raw(std::string_view name) const { return std::string{member(json, name).value_or("")}; }
  };

  Answered call(const std::string& name, const std::string& arguments = "{}") {
    const auto result = Toolbox{context}.call({name, arguments, "agent:tester (for alice@box)"});
    if (!result) throw std::runtime_error("no tool " + name);
    const bool failed = member(*result, "isError") == "true";
    const auto content = json::elements(*member(*result, "content"), "content");
    std::string text = text_member(content->front(), "text").value();
    if (failed) return {true, std::string{*member(text, "error")}};
    EXPECT_EQ(text, *member(*result, "structuredContent"));
    return {false, std::move(text)};
  }

  void fail_some(int count) {
    for (int number = 1; number <= count; ++number) {
      store.publish(test::id_of(number));
      store.fail(test::id_of(number));
    }
  }

  test::EmbeddedStore store;
  std::vector<Uuid> carried;  ///< what was asked to be carried out
  Context context;

 private:
  host::Entropy an_entropy() {
    return {[this] { return store.now; }, [this] { return std::array<std::uint8_t, 10>{++random_}; }};
  }
  std::function<void(const Uuid&)> remember() {
    return [this](const Uuid& operation) { carried.push_back(operation); };
  }
  std::uint8_t random_ = 0;
};

}  // namespace sluice::mcp
