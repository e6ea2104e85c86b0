// Many callers, one commit. Who finds nobody at work does its own work at once, alone; whoever comes meanwhile waits,
// and one of those who wait does the work of all of them together. There is no thread of its own and no waiting for
// company: a lone caller pays for an uncontended lock.
//
// Knows nothing of what the work is. Calls keep their order: one that has returned before another began is done before.
//
// Thread-safety: run() from any thread, but not from within the work.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace sluice::store::sqlite {

/// `Call` is one caller's part: what it wants and, after the work, its own answer.
template <class Call>
class GroupCommit {
 public:
  /// Answers every one of the calls; never at work twice at a time. What it throws reaches every one of the callers.
  using Work = std::function<void(std::span<Call* const> calls)>;

  /// `most`: the weight up to which calls are worked on together; a heavier one is worked on alone.
  GroupCommit(Work work, std::size_t most) : work_(std::move(work)), most_(most) {}

  /// Returns when the work has answered `call`.
  void run(Call& call, std::size_t weight) {
    std::shared_ptr<Group> group;
    {
      std::unique_lock lock{mutex_};
      if (at_work_) {
        group = join(call, weight);
        group->changed.wait(lock, [&] { return group->over || group->may_begin; });
        if (group->over) return group->answer();
        // The first to wake does it for all; from here on nobody can join.
        group->may_begin = false;
        waiting_.pop_front();
      }
      at_work_ = true;
    }
    Call* const alone = &call;
    try {
      work_(group ? std::span<Call* const>{group->calls} : std::span{&alone, 1});
    } catch (...) {
      if (group) group->thrown = std::current_exception();
      hand_over(group.get());
      throw;
    }
    hand_over(group.get());
  }

  /// How many calls nobody has begun to work on.
  [[nodiscard]] std::size_t waiting() const {
    const std::lock_guard lock{mutex_};
    std::size_t calls = 0;
    for (const auto& group : waiting_) calls += group->calls.size();
    return calls;
  }

 private:
  /// Shared, so that it can be told of changes when the lock is no longer held and some have left already.
  struct Group {
    std::vector<Call*> calls;
    std::size_t weight = 0;
    bool may_begin = false;  ///< one of its callers is to do the work
    bool over = false;
    std::exception_ptr thrown;
    std::condition_variable changed;

    void answer() const {
      if (thrown) std::rethrow_exception(thrown);
    }
  };

  std::shared_ptr<Group> join(Call& call, std::size_t weight) {
    const bool full = waiting_.empty() || waiting_.back()->weight + weight > most_;
    // A group waits only once it has a caller: nobody else could do its work.
    auto group = full ? std::make_shared<Group>() : waiting_.back();
    group->calls.push_back(&call);
    group->weight += weight;
    if (full) waiting_.push_back(group);
    return group;
  }

  void hand_over(Group* done) {
    std::shared_ptr<Group> next;
    {
      const std::lock_guard lock{mutex_};
      if (done != nullptr) done->over = true;
      at_work_ = !waiting_.empty();
      if (at_work_) {
        next = waiting_.front();
        next->may_begin = true;
      }
    }
    if (next) next->changed.notify_one();
    if (done != nullptr) done->changed.notify_all();
  }

  Work work_;
  std::size_t most_;
  mutable std::mutex mutex_;
  bool at_work_ = false;                        // also while the next is still waking up
  std::deque<std::shared_ptr<Group>> waiting_;  // only the last can be joined
};

}  // namespace sluice::store::sqlite
