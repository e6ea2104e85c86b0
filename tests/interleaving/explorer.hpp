// Runs the steps of several sessions in every order, or in a seeded sample of the orders, in the manner of PostgreSQL's
// isolation tests: a step that waits for a lock is left waiting while the others go on.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace sluice::test {

struct Step {
  std::string name;
  std::function<void()> run;
};

/// One session: its steps keep their order.
struct Script {
  std::string session;
  std::vector<Step> steps;
};

/// The orders in which the steps of sessions with these lengths can be merged: all of them when they are at most
/// `most`, otherwise `most` that are drawn at random.
class Orders {
 public:
  Orders(const std::vector<std::size_t>& lengths, std::uint64_t most, std::uint64_t seed);

  /// The next one: for each place the number of the session whose turn it is.
  std::optional<std::vector<int>> next();
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] bool all() const { return count_ <= most_; }

 private:
  std::uint64_t count_ = 1;
  std::uint64_t most_;
  std::uint64_t given_ = 0;
  std::mt19937_64 random_;
  std::vector<int> order_;
};

/// Runs the steps of one session on a thread of its own, so that one that waits stops nobody else.
class Player {
 public:
  Player();
  ~Player();
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;

  void start(std::function<void()> step);
  [[nodiscard]] bool done_within(std::chrono::milliseconds time);
  /// What the last step threw; empty: nothing.
  [[nodiscard]] std::string error() const { return error_; }

 private:
  void run();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> step_;
  std::string error_;
  bool busy_ = false;
  bool over_ = false;
  std::jthread thread_;
};

/// What the player of an order asks and tells the world.
struct Hooks {
  std::function<bool(const std::string& session)> waits;  ///< whether the session waits for a lock
  std::function<std::string()> after_each;                ///< what is wrong after this step; empty: nothing
  std::function<void()> stop;                             ///< ends whatever the sessions are doing
};
struct Played {
  std::string trace;      ///< a step per line
  std::string objection;  ///< empty: none
};
/// Plays the scripts in this order. A session that waits forfeits its turn and takes it when it can go on. An objection
/// ends the play.
Played play(const std::vector<Script>& scripts, std::deque<Player>& players, const std::vector<int>& order,
            const Hooks& hooks);

}  // namespace sluice::test
