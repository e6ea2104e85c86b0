// agent_tasks dispatch CONVERSATION INSTRUCTION [--needs-approval]
// agent_tasks approve TASK PERSON
// agent_tasks work [CLAIM_TTL]        until it is interrupted
//
// The database is named by SLUICE_STORE. README.md beside this file shows how the parts belong together.
#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <vector>

#include "dispatcher.hpp"
#include "worker.hpp"

namespace {

using Arguments = std::vector<std::string>;

template <class T>
T required(sluice::Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

std::string store() { return required(sluice::PublisherOptions::from_environment()).store; }

int dispatch(const Arguments& arguments) {
  agent_tasks::Dispatcher dispatcher{store()};
  const bool needs_approval = arguments.size() > 3 && arguments[3] == "--needs-approval";
  const auto conversation = required(sluice::Uuid::parse(arguments.at(1), "CONVERSATION"));
  std::cout << dispatcher.dispatch({conversation, arguments.at(2), needs_approval}).to_string() << '\n';
  return 0;
}

int approve(const Arguments& arguments) {
  agent_tasks::Dispatcher dispatcher{store()};
  if (dispatcher.approve(required(sluice::Uuid::parse(arguments.at(1), "TASK")), arguments.at(2))) return 0;
  std::cerr << "agent_tasks: no result of this task waits for approval\n";
  return 1;
}

// Stands for a language model.
std::string answer(const sluice::Uuid& task, const std::string& instruction) {
  std::cout << "executing " << task.to_string() << std::endl;
  return "I have thought about this: " + instruction;
}

int work(const Arguments& arguments) {
  // Before any thread starts, so that none of them takes the signal.
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGINT);
  sigaddset(&ending, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);

  auto publisher = required(sluice::EventPublisher::open({.store = store(), .service = "agent_tasks"}));
  agent_tasks::Worker worker{publisher, answer};
  sluice::ListenerOptions options{.store = store(), .service = "agent_tasks"};
  if (arguments.size() > 1) options.claim_ttl = required(sluice::parse_duration(arguments[1], "CLAIM_TTL"));
  auto listener = required(sluice::EventListener::open(options));
  required(worker.listen(listener));
  required(listener.start());
  int signal = 0;
  sigwait(&ending, &signal);
  listener.stop();
  return 0;
}

}  // namespace

int main(int count, char** values) {
  const Arguments arguments(values + 1, values + count);
  try {
    if (arguments.size() >= 3 && arguments[0] == "dispatch") return dispatch(arguments);
    if (arguments.size() == 3 && arguments[0] == "approve") return approve(arguments);
    if (!arguments.empty() && arguments[0] == "work") return work(arguments);
  } catch (const std::exception& error) {
    std::cerr << "agent_tasks: " << error.what() << '\n';
    return 1;
  }
  std::cerr << "usage: agent_tasks dispatch CONVERSATION INSTRUCTION [--needs-approval]\n"
               "       agent_tasks approve TASK PERSON\n"
               "       agent_tasks work [CLAIM_TTL]\n";
  return 2;
}
