#include "runtime/run_handler.hpp"

#include <gtest/gtest.h>
#include <system_error>

namespace sluice::runtime {
namespace {

struct CardDeclined : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class E>
Failure thrown(const E& exception) {
  return failure_of(std::make_exception_ptr(exception));
}

TEST(Thrown, TerminalErrorsAreTerminalWhateverTheirClass) {
  EXPECT_TRUE(thrown(TerminalError{"no"}).terminal);
  EXPECT_TRUE(thrown(PayloadError{"no"}).terminal);
  EXPECT_EQ(thrown(PayloadError{"no"}).error_class, "PayloadError");
  EXPECT_EQ(thrown(TerminalError{"AccountClosed", "gone"}).error_class, "AccountClosed");
}

TEST(Thrown, SqlErrorsBringTheirState) {
  const Failure failure = thrown(SqlError{"23505", "duplicate key"});
  EXPECT_EQ(failure.sqlstate, "23505");
  EXPECT_EQ(classify(failure, {}), Disposition::terminal);
  EXPECT_EQ(classify(thrown(SqlError{"40001", "serialization"}), {}), Disposition::transient);
}

TEST(Thrown, SystemErrorsAreConnectionErrorsAndTimeouts) {
  EXPECT_EQ(thrown(std::system_error{std::make_error_code(std::errc::connection_refused)}).error_class,
            "ConnectionError");
  EXPECT_EQ(thrown(std::system_error{std::make_error_code(std::errc::timed_out)}).error_class, "TimeoutError");
  EXPECT_EQ(thrown(std::system_error{std::make_error_code(std::errc::no_space_on_device)}).error_class, "system_error");
}

TEST(Thrown, OtherExceptionsAreFiledUnderTheirTypesLastName) {
  EXPECT_EQ(thrown(CardDeclined{"no funds"}).error_class, "CardDeclined");
  EXPECT_EQ(thrown(std::out_of_range{"x"}).error_class, "out_of_range");
  EXPECT_EQ(thrown(CardDeclined{"no funds"}).last_error(), "CardDeclined: no funds");
  EXPECT_EQ(thrown(7).error_class, "Error");
}

TEST(Thrown, VerdictsBecomeOutcomes) {
  EXPECT_EQ(outcome_of(Verdict::handled()).kind, Outcome::Kind::handled);
  const Timestamp later{std::chrono::seconds{9}};
  EXPECT_EQ(outcome_of(Verdict::defer_until(later)).not_before, later);
  EXPECT_EQ(outcome_of(Verdict::defer_for(std::chrono::seconds{5})).wait, std::chrono::seconds{5});
  EXPECT_EQ(outcome_of(Verdict::stopped("cut short")).kind, Outcome::Kind::released);
  Verdict asked = Verdict::failed("RateLimited", "slow down");
  asked.retry_after = std::chrono::seconds{7};
  EXPECT_EQ(outcome_of(asked).retry_after, std::chrono::seconds{7});
  EXPECT_EQ(outcome_of(asked).failure.error_class, "RateLimited");
}

}  // namespace
}  // namespace sluice::runtime
