#include "cli/table.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "cli/session.hpp"

namespace sluice::cli {
namespace {

TEST(Printable, DropsWhatCouldDriveATerminal) {
  EXPECT_EQ(printable("\033[31mred\033[0m"), "[31mred[0m");
  EXPECT_EQ(printable("a\x07\x7f\x08z"), "az");
  EXPECT_EQ(printable("a\xC2\x9B[2Jz"), "a[2Jz");
  EXPECT_EQ(printable("user\xE2\x80\xAEtxt.exe"), "usertxt.exe");
  EXPECT_EQ(printable("\xE2\x81\xA6x\xE2\x80\xA8y"), "xy");
}

TEST(Printable, KeepsOneLine) { EXPECT_EQ(printable("a\nb\tc\r"), "a b c "); }

TEST(Printable, KeepsUnicodeAndReplacesWhatIsNot) {
  EXPECT_EQ(printable("größe \xE6\xB0\xB4"), "größe \xE6\xB0\xB4");
  EXPECT_EQ(printable("a\xFFz"), "a\xEF\xBF\xBDz");
}

TEST(Table, ANoteStandsUnderItsRowAndIsNeverCut) {
  Table table{"NAME", "N"};
  table.row({"a", "1"});
  table.note("https://traces.example.com/0af7\n651916cd43dd8448eb211c80319c");
  table.row({"b", "2"});
  std::ostringstream out;
  table.print(out, false, 20);
  EXPECT_EQ(out.str(), "NAME  N\na     1\n    https://traces.example.com/0af7 651916cd43dd8448eb211c80319c\nb     2\n");
}

TEST(Table, AlignsByCharactersAndTrimsTheEnd) {
  Table table{"NAME", "N"};
  table.row({"größe", "1"});
  table.row({"a", ""});
  std::ostringstream out;
  table.print(out, false);
  EXPECT_EQ(out.str(), "NAME   N\ngröße  1\na\n");
}

TEST(Table, FitsTheTerminal) {
  Table table{"ID", "TYPE", "ERROR"};
  table.row(
      {"0196b2f1-7c1e-7a3b-9d2e-5f6a7b8c9d0e", "billing.invoice.paid", "größe of the answer is more than was agreed"});
  std::ostringstream out;
  table.print(out, false, 70);
  EXPECT_EQ(out.str(),
            "ID                                    TYPE             ERROR\n"
            "0196b2f1-7c1e-7a3b-9d2e-5f6a7b8c9d0e  billing.invoic…  größe of the a…\n");
  std::ostringstream narrow;
  table.print(narrow, false, 20);
  EXPECT_EQ(narrow.str(), "ID        TYPE      ERROR\n0196b2f…  billing…  größe o…\n");
  std::ostringstream wide;
  table.print(wide, false, 200);
  EXPECT_EQ(wide.str().find("…"), std::string::npos);
}

TEST(Table, MakesCellsPrintable) {
  Table table{"ERROR"};
  table.row({"\033]0;owned\x07"});
  std::ostringstream out;
  table.print(out, false);
  EXPECT_EQ(out.str(), "ERROR\n]0;owned\n");
}

TEST(Table, BoldHeadersOnlyWithColor) {
  std::ostringstream out;
  Table{"A"}.print(out, true);
  EXPECT_EQ(out.str(), "\033[1mA\033[0m\n");
}

TEST(Pairs, AlignAndLeaveOutWhatIsEmpty) {
  std::ostringstream out;
  print_pairs(out, {{"a", "1"}, {"longer_and_empty", ""}, {"bc", "2"}});
  EXPECT_EQ(out.str(), "  a   1\n  bc  2\n");
}

TEST(When, TextForPeople) {
  const auto at = *parse_iso8601("2026-04-25T01:43:02.123456Z");
  EXPECT_EQ(clock_text(at), "2026-04-25 01:43:02.123Z");
  using namespace std::chrono;
  EXPECT_EQ(age_text(at, at + seconds{59}), "59s");
  EXPECT_EQ(age_text(at, at + minutes{61}), "1h");
  EXPECT_EQ(age_text(at, at + minutes{5}), "5m");
  EXPECT_EQ(age_text(at, at + days{3}), "3d");
  EXPECT_EQ(age_text(at, at - seconds{5}), "0s");
}

}  // namespace
}  // namespace sluice::cli
