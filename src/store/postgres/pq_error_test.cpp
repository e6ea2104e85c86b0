#include "store/postgres/pq_error.hpp"

#include <gtest/gtest.h>

#include "core/redact.hpp"

namespace sluice::store::pq {
namespace {

TEST(PqError, BrokenConnectionDuringAWriteIsInDoubt) {
  const Error error = translate("", "server closed the connection unexpectedly\n\tThis probably means…", Effect::write);
  EXPECT_EQ(error.code, ErrorCode::unavailable);
  EXPECT_EQ(error.retry, Retry::in_doubt);
  EXPECT_EQ(error.message.find('\n'), std::string::npos);
}

TEST(PqError, SentencesOfSeveralLinesStaySentences) {
  EXPECT_EQ(
      connect_error("connection failed: Connection refused\n\tIs the server running on that host\n\tand listening?\n",
                    "postgres://db")
          .message,
      "cannot connect to postgres://db: connection failed: Connection refused. Is the server running on that host and "
      "listening?");
}

TEST(PqError, BrokenConnectionDuringAReadMayBeRetried) {
  EXPECT_EQ(translate("", "server closed the connection unexpectedly", Effect::read).retry, Retry::safe);
}

TEST(PqError, AdministratorShutdownIsAnAnsweredRollback) {
  EXPECT_EQ(translate("57P01", "terminating connection due to administrator command", Effect::write).retry,
            Retry::safe);
}

TEST(PqError, OwnStatesNameTheField) {
  const Error error = translate("SL422", "p_payload: expected a JSON object, got array", Effect::write);
  EXPECT_EQ(error.code, ErrorCode::invalid);
  EXPECT_EQ(error.field, "payload");
}

struct Case {
  const char* sqlstate;
  ErrorCode code;
  Retry retry;
};

void PrintTo(const Case& state, std::ostream* out) { *out << state.sqlstate; }

class PqErrorTable : public testing::TestWithParam<Case> {};

TEST_P(PqErrorTable, MapsTheState) {
  const Error error = translate(GetParam().sqlstate, "said", Effect::write);
  EXPECT_EQ(error.code, GetParam().code);
  EXPECT_EQ(error.retry, GetParam().retry);
}

INSTANTIATE_TEST_SUITE_P(
    States, PqErrorTable,
    testing::Values(
        Case{"SL404", ErrorCode::not_found, Retry::never}, Case{"SL409", ErrorCode::conflict, Retry::never},
        Case{"42501", ErrorCode::forbidden, Retry::never}, Case{"42704", ErrorCode::not_found, Retry::never},
        Case{"25006", ErrorCode::read_only, Retry::never}, Case{"53100", ErrorCode::exhausted, Retry::safe},
        Case{"53300", ErrorCode::exhausted, Retry::safe}, Case{"40P01", ErrorCode::unavailable, Retry::safe},
        Case{"40001", ErrorCode::unavailable, Retry::safe}, Case{"57014", ErrorCode::timeout, Retry::safe},
        Case{"42P01", ErrorCode::schema, Retry::never}, Case{"23514", ErrorCode::invalid, Retry::never},
        Case{"22P02", ErrorCode::invalid, Retry::never}, Case{"08006", ErrorCode::unavailable, Retry::in_doubt},
        Case{"XX001", ErrorCode::corrupt, Retry::never}));

TEST(PqError, WrongPasswordIsForbiddenAndKeepsThePasswordOut) {
  const std::string where = redact_dsn("postgres://app:s3cr@t@db:5432/x");
  const Error error =
      connect_error("connection failed: FATAL:  password authentication failed for user \"app\"\n", where);
  EXPECT_EQ(error.code, ErrorCode::forbidden);
  EXPECT_EQ(error.message.find("s3cr"), std::string::npos) << error.message;
}

}  // namespace
}  // namespace sluice::store::pq
