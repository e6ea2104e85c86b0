#include "tests/support/broker_server.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <stdexcept>

namespace sluice::test {

BrokerProcess::BrokerProcess(std::vector<std::string> words, std::string ready)
    : words_(std::move(words)), ready_(std::move(ready)) {
  start();
}

BrokerProcess::~BrokerProcess() { kill(); }

void BrokerProcess::start() {
  std::array<int, 2> log{};
  if (::pipe2(log.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  std::vector<char*> arguments;
  for (const std::string& word : words_) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(log[1], STDOUT_FILENO);
    ::dup2(log[1], STDERR_FILENO);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  ::close(log[1]);
  log_ = log[0];
  std::string said;
  std::array<char, 4096> bytes{};
  while (said.find(ready_) == std::string::npos) {
    const ssize_t count = ::read(log_, bytes.data(), bytes.size());
    if (count <= 0) throw std::runtime_error(words_.front() + " did not start: " + said);
    said.append(bytes.data(), static_cast<std::size_t>(count));
  }
  draining_ = std::jthread{[descriptor = log_] {
    std::array<char, 4096> ignored{};
    while (::read(descriptor, ignored.data(), ignored.size()) > 0) {
    }
  }};
}

void BrokerProcess::signal(int number) const {
  if (pid_ > 0) ::kill(pid_, number);
}

void BrokerProcess::end(int number) {
  if (pid_ <= 0) return;
  ::kill(pid_, number);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
  draining_ = {};
  ::close(log_);
}

NatsServer::NatsServer(const std::string& settings, int port)
    : port_(port), process_({"nats-server", "-c", write_settings(settings)}, "Server is ready") {}

std::string NatsServer::write_settings(const std::string& settings) const {
  std::ofstream file{folder_.file("nats.conf")};
  file << "listen: \"127.0.0.1:" << port_ << "\"\njetstream { store_dir: \"" << folder_.file("data") << "\" }\n"
       << settings << '\n';
  return folder_.file("nats.conf");
}

std::string ask_jetstream(int port, const std::string& request, const std::string& body) {
  const int connection = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  const std::string said = "CONNECT {\"verbose\":false}\r\nSUB answer 1\r\nPUB $JS.API." + request + " answer " +
                           std::to_string(body.size()) + "\r\n" + body + "\r\n";
  std::string heard;
  if (::connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::send(connection, said.data(), said.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(said.size())) {
    ::close(connection);
    throw std::runtime_error("nats-server does not take a request");
  }
  // MSG answer 1 17\r\n and so many bytes.
  std::array<char, 4096> bytes{};
  while (true) {
    const std::size_t head = heard.find("MSG answer 1 ");
    const std::size_t end = head == std::string::npos ? head : heard.find("\r\n", head);
    if (end != std::string::npos) {
      const std::size_t size = std::stoul(heard.substr(head + 13, end - head - 13));
      if (heard.size() >= end + 2 + size) {
        ::close(connection);
        return heard.substr(end + 2, size);
      }
    }
    const ssize_t count = ::recv(connection, bytes.data(), bytes.size(), 0);
    if (count <= 0) {
      ::close(connection);
      throw std::runtime_error("nats-server hung up: " + heard);
    }
    heard.append(bytes.data(), static_cast<std::size_t>(count));
  }
}

RedisServer::RedisServer(const std::vector<std::string>& settings, int port)
    : port_(port), process_(command(settings), "Ready to accept connections") {}

std::vector<std::string> RedisServer::command(const std::vector<std::string>& settings) const {
  std::vector<std::string> words{"redis-server",
                                 "--port",
                                 std::to_string(port_),
                                 "--bind",
                                 "127.0.0.1",
                                 "--dir",
                                 folder_.path(),
                                 "--appendonly",
                                 "yes",
                                 "--save",
                                 "",
                                 "--loglevel",
                                 "notice",
                                 "--appendfsync",
                                 "always"};
  words.insert(words.end(), settings.begin(), settings.end());
  return words;
}

}  // namespace sluice::test
