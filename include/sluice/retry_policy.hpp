// RetryPolicy: how often, how long between, and what is not worth a retry.
//
// A policy is data. The default is five attempts, and five more after each replay, with
// uniform(0, min(300 s, 1 s · 2^(n−1))) before retry n: exponential, full jitter. The webhook inbox
// uses `inbox()`: min(base · 2^attempts, cap), 5 s and 300 s, no jitter.
#pragma once

#include <string>
#include <vector>

#include <sluice/result.hpp>
#include <sluice/time.hpp>

namespace sluice {

enum class Jitter {
  none,  ///< the delay is the bound itself
  full,  ///< the delay is uniform between zero and the bound
};

struct RetryPolicy {
  int max_attempts = 5;                      ///< the attempt that reaches it fails the event; at least 1
  Duration base = std::chrono::seconds{1};   ///< bound of the first delay; > 0
  double multiplier = 2.0;                   ///< at least 1
  Duration cap = std::chrono::seconds{300};  ///< no delay exceeds it; at least base
  Jitter jitter = Jitter::full;
  /// false: the n-th failure waits base · multiplier^(n−1). true: base · multiplier^n, which is how
  /// the inbox formula counts.
  bool exponent_counts_attempts = false;
  /// Error classes that are terminal for this handler, besides the built-in ones.
  std::vector<std::string> terminal_errors{};

  static RetryPolicy standard() { return {}; }
  static RetryPolicy inbox();

  /// Checks the bounds above; the error names the member.
  [[nodiscard]] Result<void> validate() const;

  /// The largest delay after `attempts` failed attempts (1, 2, …). Never overflows.
  [[nodiscard]] Duration bound(int attempts) const;

  /// The delay after `attempts` failed attempts. `uniform01` is a random number in [0, 1); it is
  /// ignored without jitter.
  [[nodiscard]] Duration delay(int attempts, double uniform01) const;
};

}  // namespace sluice
