// tcp_gate PORT SEED: a TCP gate before the server on PORT, for tests in other languages. Prints its own port; then
// reads a command per line and answers each with a number.
//
//   delay LEAST JITTER      microseconds, each way                      0
//   cut COUNT               close connections                           how many
//   stall COUNT MS          they stand still, then go on                how many
//   swallow COUNT MS        silent, then closed                         how many
//   deafen COUNT MS         the same, of those that listen              how many
//   lose commit|claim COUNT the answers to the next so many             0
//   lost                                                                answers lost so far
//   heal                    an end to all of it; delays stay            0
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>

#include "tests/support/tcp_gate.hpp"

namespace {

using sluice::test::TcpGate;

// The name of a prepared statement follows the empty name of the portal and its final zero.
std::string request_named(const std::string& name) { return name == "claim" ? std::string{"\0claim", 6} : name; }

int obey(TcpGate& gate, const std::string& line) {
  std::istringstream words{line};
  std::string verb;
  words >> verb;
  std::string what;
  if (verb == "lose") words >> what;
  int first = 0;
  int second = 0;
  words >> first >> second;
  const std::chrono::milliseconds time{second};
  if (verb == "cut") return gate.cut(first);
  if (verb == "stall") return gate.stall(first, time);
  if (verb == "swallow") return gate.swallow(first, time, false);
  if (verb == "deafen") return gate.swallow(first, time, true);
  if (verb == "lost") return gate.lost_answers();
  if (verb == "delay") gate.delay(TcpGate::Span{first}, TcpGate::Span{second});
  if (verb == "lose") gate.lose_answers_to(request_named(what), first);
  if (verb == "heal") gate.heal();
  return 0;
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) {
    std::cerr << "usage: tcp_gate PORT SEED\n";
    return 2;
  }
  TcpGate gate{std::atoi(words[1]), std::strtoull(words[2], nullptr, 10)};
  std::cout << gate.port() << std::endl;
  std::string line;
  while (std::getline(std::cin, line)) std::cout << obey(gate, line) << std::endl;
  return 0;
}
