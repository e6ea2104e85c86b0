// The plan of one of the adapter's queries.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/postgres_database.hpp"

namespace sluice::test {

/// Parameters, as the query spells them with their casts, and what stands for them.
using PlanParameters = std::vector<std::pair<std::string, std::string>>;

inline std::string sql_text(const std::string& name) {
  std::ifstream file{std::string{SLUICE_SOURCE_DIR} + "/src/store/postgres/sql/" + name + ".sql"};
  EXPECT_TRUE(file) << name;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// With what it takes in from sql/part, as the build does.
inline std::string query_text(const std::string& query) {
  std::string text = sql_text("query/" + query);
  for (auto at = text.find("{{"); at != std::string::npos; at = text.find("{{")) {
    const auto end = text.find("}}", at);
    text.replace(at, end + 2 - at, sql_text("part/" + text.substr(at + 2, end - at - 2)));
  }
  return text;
}

inline std::string plan_of(SqlSession& session, const std::string& query, const PlanParameters& parameters) {
  std::string explained = "explain (costs off) " + query_text(query);
  for (const auto& [parameter, value] : parameters) {
    for (auto at = explained.find(parameter); at != std::string::npos;
         at = explained.find(parameter, at + value.size()))
      explained.replace(at, parameter.size(), value);
  }
  std::string lines;
  for (const auto& row : session.must(explained).rows) lines += row.front().value_or("") + '\n';
  return lines;
}

}  // namespace sluice::test
