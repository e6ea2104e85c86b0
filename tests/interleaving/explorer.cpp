#include "tests/interleaving/explorer.hpp"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <utility>

namespace sluice::test {
namespace {

// Saturates: more than anybody will run.
std::uint64_t merges(const std::vector<std::size_t>& lengths) {
  long double count = 1;
  std::size_t total = 0;
  for (const std::size_t length : lengths) {
    for (std::size_t i = 1; i <= length; ++i)
      count = count * static_cast<long double>(++total) / static_cast<long double>(i);
  }
  return count > 1e15L ? 1'000'000'000'000'000 : static_cast<std::uint64_t>(count + 0.5L);
}

constexpr std::chrono::milliseconds kMoment{3};
constexpr int kMostMoments = 10'000;

}  // namespace

Orders::Orders(const std::vector<std::size_t>& lengths, std::uint64_t most, std::uint64_t seed)
    : count_(merges(lengths)), most_(most), random_(seed) {
  for (std::size_t session = 0; session < lengths.size(); ++session)
    order_.insert(order_.end(), lengths[session], static_cast<int>(session));
}

std::optional<std::vector<int>> Orders::next() {
  if (given_ == std::min(count_, most_)) return std::nullopt;
  if (!all()) {
    std::shuffle(order_.begin(), order_.end(), random_);
  } else if (given_ > 0) {
    std::next_permutation(order_.begin(), order_.end());
  }
  ++given_;
  return order_;
}

Player::Player() : thread_([this] { run(); }) {}

Player::~Player() {
  const std::scoped_lock lock{mutex_};
  over_ = true;
  changed_.notify_all();
}

void Player::start(std::function<void()> step) {
  const std::scoped_lock lock{mutex_};
  step_ = std::move(step);
  error_.clear();
  busy_ = true;
  changed_.notify_all();
}

bool Player::done_within(std::chrono::milliseconds time) {
  std::unique_lock lock{mutex_};
  return changed_.wait_for(lock, time, [this] { return !busy_; });
}

void Player::run() {
  for (;;) {
    std::function<void()> step;
    {
      std::unique_lock lock{mutex_};
      changed_.wait(lock, [this] { return over_ || step_; });
      if (over_) return;
      step = std::exchange(step_, nullptr);
    }
    std::string error;
    try {
      step();
    } catch (const std::exception& thrown) {
      error = thrown.what();
    }
    const std::scoped_lock lock{mutex_};
    error_ = error;
    busy_ = false;
    changed_.notify_all();
  }
}

Played play(const std::vector<Script>& scripts, std::deque<Player>& players, const std::vector<int>& order,
            const Hooks& hooks) {
  Played played;
  std::vector<std::size_t> at(scripts.size(), 0);
  std::vector<bool> waiting(scripts.size(), false);
  std::vector<int> left = order;

  // Until the step is done or waits for somebody.
  const auto follow = [&](std::size_t session) {
    for (int moment = 0; moment < kMostMoments; ++moment) {
      if (players[session].done_within(kMoment)) {
        if (waiting[session]) played.trace += "  " + scripts[session].session + " goes on\n";
        waiting[session] = false;
        if (const std::string error = players[session].error(); !error.empty())
          played.objection = scripts[session].session + ": " + error;
        return;
      }
      if (hooks.waits(scripts[session].session)) {
        if (!waiting[session]) played.trace += "  " + scripts[session].session + " waits\n";
        waiting[session] = true;
        return;
      }
    }
    played.objection = scripts[session].session + " neither ends its step nor waits for a lock";
  };
  const auto follow_all = [&] {
    for (std::size_t session = 0; session < scripts.size(); ++session) {
      if (waiting[session]) follow(session);
    }
  };

  for (int rounds = 0; !left.empty() && played.objection.empty(); ++rounds) {
    const auto turn = std::find_if(left.begin(), left.end(),
                                   [&](int session) { return !waiting[static_cast<std::size_t>(session)]; });
    if (turn != left.end()) {
      const auto session = static_cast<std::size_t>(*turn);
      left.erase(turn);
      const Step& step = scripts[session].steps[at[session]++];
      played.trace += "  " + scripts[session].session + ": " + step.name + "\n";
      players[session].start(step.run);
      follow(session);
    } else if (rounds > kMostMoments) {
      played.objection = "everybody waits";
    }
    follow_all();
    if (played.objection.empty()) played.objection = hooks.after_each();
  }
  if (!played.objection.empty()) hooks.stop();
  // Nobody holds anything any more that another could wait for, save for those who wait for each other.
  for (int rounds = 0; std::find(waiting.begin(), waiting.end(), true) != waiting.end(); ++rounds) {
    follow_all();
    if (rounds > kMostMoments) throw std::runtime_error("a session waits for ever\n" + played.trace);
  }
  return played;
}

}  // namespace sluice::test
