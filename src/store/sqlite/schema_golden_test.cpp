// The whole schema of a new file. After a wanted change: UPDATE_GOLDEN=1 ./run test -R Golden
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "store/sqlite/sqlite_store.hpp"
#include "tests/support/temp_dir.hpp"

namespace sluice::store {
namespace {

std::string schema_of(const std::string& path) {
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READWRITE, nullptr), SQLITE_OK);
  std::string schema;
  const auto append = [](void* to, int, char** columns, char**) {
    *static_cast<std::string*>(to) += std::string{columns[0]} + ";\n\n";
    return 0;
  };
  EXPECT_EQ(sqlite3_exec(database, "select sql from sqlite_master where sql is not null order by type desc, name",
                         append, &schema, nullptr),
            SQLITE_OK);
  sqlite3_close(database);
  return schema;
}

TEST(SqliteSchema, Golden) {
  const test::TempDir folder;
  const std::string file = (folder.path() / "golden.db").string();
  {
    const auto opened = open_sqlite({.path = file});
    ASSERT_TRUE(opened) << opened.error().message;
  }
  const std::string schema = schema_of(file);
  const std::string path = SLUICE_SOURCE_DIR "/tests/golden/schema.sqlite.sql";
  if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream{path} << schema;
  std::ifstream golden_file{path};
  std::stringstream golden;
  golden << golden_file.rdbuf();
  EXPECT_EQ(schema, golden.str()) << "the schema changed; see the comment above";
}

}  // namespace
}  // namespace sluice::store
