// How workers share a backlog, under every interleaving of two and three of them, with a model of the table whose low
// mark follows the rule of core.claim_cursor_advance. What a process remembers is thrown away at random: it is a matter
// of speed, and nothing may depend on it.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "store/postgres/scan_stretches.hpp"
#include "tests/interleaving/explorer.hpp"

namespace sluice::test {
namespace {

using store::ScanStretches;
using store::Stretch;
using store::StretchView;

constexpr std::int64_t kTop = 40;
constexpr int kRoom = 5;
constexpr std::int64_t kLate = 7;    // its publisher is slow
constexpr std::int64_t kKeyed = 20;  // swift claims leave it

struct Table {
  std::map<std::int64_t, int> taken;  // how often; every number but the late one is pending at first
  bool late_committed = false;
  std::int64_t low = 0;
  std::int64_t mark = 0;
  std::int64_t rival = 0;  // locked by another process

  [[nodiscard]] bool pending(std::int64_t number) const {
    return (number != kLate || late_committed) && !taken.contains(number);
  }
  StretchView claim(const Stretch& stretch) {
    const std::int64_t end = std::min(kTop, stretch.upto.value_or(kTop));
    StretchView view{.looked_up_to = stretch.upto ? *stretch.upto : kTop, .top = kTop};
    int room = kRoom;
    for (std::int64_t number = stretch.after + 1; number <= end; ++number) {
      if (!pending(number) || number == rival || (stretch.swift && number == kKeyed)) continue;
      ++taken[number];
      ++view.found;
      view.keyed = view.keyed || number == kKeyed;
      if (!stretch.swift && --room == 0) {
        view.looked_up_to = number;
        break;
      }
    }
    return view;
  }
  // One statement of the server, and the claim of what it found.
  int look() {
    std::int64_t first = low + 1;
    while (first <= kTop && !pending(first)) ++first;
    // The late one's transaction is older than every mark.
    if (late_committed) low = std::max(low, std::min(mark, first - 1));
    mark = kTop;
    return first > kTop ? 0 : static_cast<int>(claim({first - 1, kTop}).found);
  }
  [[nodiscard]] bool passed_over() const {
    for (std::int64_t number = 1; number <= low; ++number) {
      if (!taken.contains(number)) return true;
    }
    return false;
  }
};

// One claim in three steps, as a thread of PostgresStore makes it.
struct Worker {
  Stretch stretch;
  StretchView view;
  bool failed = false;
  int process = 0;  // that the stretch comes from
  int at = 0;
};

class Process {
 public:
  explicit Process(std::uint64_t seed) : random_(seed) {}

  void step(Worker& worker) {
    switch (worker.at++ % 3) {
      case 0:
        reserve();
        worker.stretch = stretches_.next(kRoom);
        worker.process = incarnation_;
        break;
      case 1:
        // A swift claim gives up where a rival is.
        worker.failed = random_() % 8 == 0 || (worker.stretch.swift && table.rival > worker.stretch.after &&
                                               table.rival <= *worker.stretch.upto);
        if (!worker.failed) worker.view = table.claim(worker.stretch);
        break;
      default:
        if (worker.process != incarnation_) break;
        worker.failed ? stretches_.failed(worker.stretch) : stretches_.seen(worker.stretch, worker.view);
    }
  }
  void something_else() {
    switch (random_() % 12) {
      case 0:
        table.late_committed = true;
        break;
      case 1:
        table.look();
        break;
      case 2:
        ++incarnation_;
        stretches_ = ScanStretches{table.low};
        break;
      case 3:
        table.rival = static_cast<std::int64_t>(random_() % kTop);
        break;
      default:
        break;
    }
  }
  // Claims and looks until two rounds find nothing.
  void drain() {
    table.late_committed = true;
    table.rival = 0;
    for (int vain = 0, rounds = 0; vain < 2; ++rounds) {
      ASSERT_LT(rounds, 500) << "no end";
      Worker worker;
      do step(worker);
      while (worker.at < 3);
      const bool some = (!worker.failed && worker.view.found > 0) || worker.failed || worker.stretch.upto;
      vain = some || table.look() > 0 ? 0 : vain + 1;
    }
  }
  Table table;

 private:
  // As core.claim_reserve answers, where another process may have come first, or its row may say anything.
  void reserve() {
    const auto wish = stretches_.wish(kRoom);
    if (!wish) return;
    if (random_() % 4 == 0) shared_head_ = static_cast<std::int64_t>(random_() % (2 * kTop));
    const std::int64_t after = std::max(shared_head_, wish->after);
    if (after + wish->length > wish->top) return stretches_.refused(std::min(shared_head_, wish->top));
    shared_head_ = after + wish->length;
    stretches_.granted(after, wish->length);
  }

  std::mt19937_64 random_;
  ScanStretches stretches_;
  std::int64_t shared_head_ = 0;
  int incarnation_ = 0;
};

void explore_workers(std::size_t workers, std::size_t claims, std::uint64_t seeds) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    Orders orders{std::vector<std::size_t>(workers, claims * 3), 1'000'000, seed};
    ASSERT_TRUE(orders.all());
    for (std::uint64_t number = 0; const auto order = orders.next(); ++number) {
      Process process{seed * 1'000'003 + number};
      std::vector<Worker> all(workers);
      for (const int turn : *order) {
        process.step(all[static_cast<std::size_t>(turn)]);
        process.something_else();
        ASSERT_FALSE(process.table.passed_over()) << "seed " << seed << ", order " << number;
      }
      process.drain();
      ASSERT_EQ(process.table.taken.size(), static_cast<std::size_t>(kTop)) << "seed " << seed << ", order " << number;
      ASSERT_TRUE(std::all_of(process.table.taken.begin(), process.table.taken.end(),
                              [](const auto& one) { return one.second == 1; }))
          << "seed " << seed << ", order " << number;
    }
  }
}

TEST(InterleavedStretches, OfTwoWorkersWithTwoClaimsEach) { explore_workers(2, 2, 8); }
TEST(InterleavedStretches, OfThreeWorkers) { explore_workers(3, 1, 8); }

}  // namespace
}  // namespace sluice::test
