// JSON Schemas (draft 2020-12) of what tools answer, put together from a few words. Each value is JSON text.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::mcp::schema {

std::string text(std::string_view description = {});
std::string uuid(std::string_view description = {});
std::string time(std::string_view description = {});  ///< ISO 8601
std::string integer(std::string_view description = {});
std::string number(std::string_view description = {});
std::string boolean(std::string_view description = {});
std::string choice(const std::vector<std::string_view>& values, std::string_view description = {});
/// Any JSON value.
std::string anything(std::string_view description = {});
/// The schema, or null.
std::string nullable(std::string_view schema);
std::string list(std::string_view items, std::string_view description = {});

/// Every member is there, and no other.
using Members = std::vector<std::pair<std::string_view, std::string>>;
std::string object(const Members& members, std::string_view description = {});

}  // namespace sluice::mcp::schema
