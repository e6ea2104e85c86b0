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

inline std::string plan_of(SqlSession& session, const std::string& query, const PlanParameters& parameters) {
  std::ifstream file{std::string{SLUICE_SOURCE_DIR} + "/src/store/postgres/sql/query/" + query + ".sql"};
  EXPECT_TRUE(file) << query;
  std::stringstream text;
  text << file.rdbuf();
  std::string explained = "explain (costs off) " + text.str();
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
