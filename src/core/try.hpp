// The two ways to pass on an error, so that the code shows what happens when nothing fails:
//
//   SLUICE_TRY(const pq::Rows rows, run(statement));   declares `rows` with the value, or returns the error
//   SLUICE_CHECK(store.depart(worker));                goes on, or returns the error; the value, if any, is dropped
//
// Only where the error goes up as it is. Where it is logged, translated or weighed against another, write the `if`.
#pragma once

#include <utility>

#define SLUICE_TRY_JOIN_AGAIN(a, b) a##b
#define SLUICE_TRY_JOIN(a, b) SLUICE_TRY_JOIN_AGAIN(a, b)
#define SLUICE_TRY_AS(result, declaration, ...)  \
  auto result = (__VA_ARGS__);                   \
  if (!result) return std::move(result).error(); \
  declaration = *std::move(result)

#define SLUICE_TRY(declaration, ...) SLUICE_TRY_AS(SLUICE_TRY_JOIN(tried_, __LINE__), declaration, __VA_ARGS__)

#define SLUICE_CHECK(...)                                                             \
  do {                                                                                \
    if (auto checked_ = (__VA_ARGS__); !checked_) return std::move(checked_).error(); \
  } while (false)
