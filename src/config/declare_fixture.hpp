// What the tests of declarations share: a file's text in, declarations or an error out.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "config/config_file.hpp"
#include "config/declare.hpp"

namespace sluice::config {

inline constexpr std::string_view kKey = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

class Declaring : public testing::Test {
 protected:
  [[nodiscard]] Result<Declarations> read(std::string_view text) const {
    const auto file = parse_file(text, "f.toml");
    if (!file) return file.error();
    return declare(file->tables, {environment, RetryPolicy::standard(), RetryPolicy::inbox(), exec_enabled});
  }
  [[nodiscard]] Declarations declared(std::string_view text) const {
    auto result = read(text);
    EXPECT_TRUE(result) << result.error().message;
    return result ? *std::move(result) : Declarations{};
  }
  /// Message and hint.
  [[nodiscard]] std::string refusal(std::string_view text) const {
    const auto result = read(text);
    EXPECT_FALSE(result) << text;
    return result ? "" : result.error().message + " / " + result.error().hint;
  }

  Environment environment;
  bool exec_enabled = false;
};

}  // namespace sluice::config
