// The how-to page on payloads shows code and the schema that it yields: they must belong together.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <sluice/payload.hpp>
#include "tests/support/temp_dir.hpp"

namespace sluice {
namespace {

struct OrderPlaced {
  static constexpr std::string_view kEventType = "shop.order.placed";
  static constexpr int kEventVersion = 1;

  sluice::Uuid order_id;
  std::optional<std::string> note;
  std::int64_t cents = 0;

  static constexpr auto fields() {
    return std::tuple{sluice::field("order_id", &OrderPlaced::order_id),
                      sluice::field("note", &OrderPlaced::note, "what the customer wrote"),
                      sluice::field("cents", &OrderPlaced::cents)};
  }
};

void write_schemas(const std::filesystem::path& directory) {
  for (const sluice::ContractFile& file : {sluice::contract_file<OrderPlaced>()}) {
    std::ofstream{directory / file.file_name} << file.text;
  }
}

std::string text_of(const std::string& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

const std::string kPage = std::string{SLUICE_SOURCE_DIR} + "/docs/how-to/evolve-a-payload.md";

// From the line that begins with `first` to the end of what it declares.
std::string code_of_this_file(const std::string& first, const std::string& last) {
  const std::string source = text_of(std::string{SLUICE_SOURCE_DIR} + "/tests/docs/evolve_page_test.cpp");
  const std::size_t begin = source.find('\n' + first) + 1;
  return source.substr(begin, source.find('\n' + last + '\n', begin) + last.size() + 2 - begin);
}

TEST(EvolvePage, ShowsTheCodeOfThisTest) {
  const std::string page = text_of(kPage);
  EXPECT_NE(
      page.find("```cpp\n#include <sluice/payload.hpp>\n\n" + code_of_this_file("struct OrderPlaced", "};") + "```"),
      std::string::npos);
  EXPECT_NE(page.find("```cpp\n" + code_of_this_file("void write_schemas", "}") + "```"), std::string::npos);
}

TEST(EvolvePage, ShowsTheFileThatTheCodeWrites) {
  const test::TempDir directory;
  write_schemas(directory.path());
  const std::string schema = text_of(directory.file("shop.order.placed.v1.json"));
  ASSERT_NE(schema, "");
  EXPECT_NE(text_of(kPage).find("/schemas/shop.order.placed.v1.json <<'JSON'\n" + schema + "JSON\n"), std::string::npos)
      << schema;
}

}  // namespace
}  // namespace sluice
