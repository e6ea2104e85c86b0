#include "broker/redis/redis.hpp"

#include <poll.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "broker/redis/lua_fetch.hpp"
#include "broker/redis/lua_open.hpp"
#include "broker/redis/lua_publish.hpp"
#include "broker/redis/lua_settle.hpp"
#include "broker/redis/lua_trim.hpp"
#include "core/try.hpp"
#include "core/words.hpp"

namespace sluice::broker {
namespace {

using std::chrono::duration_cast;
using std::chrono::microseconds;
using std::chrono::milliseconds;

// How soon somebody who waits notices a stop.
constexpr milliseconds kGlance{50};
// A server that is away is asked this often, however many callers there are.
constexpr milliseconds kConnectPause{250};
constexpr std::size_t kMostIdle = 16;
constexpr std::int64_t kDefaultMaxBytes = std::int64_t{512} * 1024 * 1024;
// By Script.
constexpr std::array<std::string_view, kScripts> kTexts{lua::kPublish, lua::kTrim, lua::kFetch, lua::kSettle,
                                                        lua::kOpen};

timeval as_timeval(microseconds time) {
  const auto positive = std::max(time, microseconds{1000});
  timeval value{};
  value.tv_sec = positive.count() / 1'000'000;
  value.tv_usec = positive.count() % 1'000'000;
  return value;
}

bool begins(std::string_view said, std::string_view code) {
  return said.starts_with(code) && (said.size() == code.size() || said[code.size()] == ' ');
}

}  // namespace

Error error_of(std::string_view said) {
  const std::string words = printable(said);
  Error error{ErrorCode::unavailable, Retry::safe, "Redis says: " + words, {}, {}};
  if (begins(said, "NOAUTH") || begins(said, "WRONGPASS") || begins(said, "NOPERM")) {
    error.code = ErrorCode::forbidden;
    error.message = "Redis refuses these credentials: " + words;
    error.hint = "check user and password, and what the user may do (ACL)";
  } else if (begins(said, "OOM") || begins(said, "MISCONF")) {
    error.code = ErrorCode::exhausted;
    error.hint = "the server is full or cannot write its file: raise maxmemory, free disk space, or trim streams";
  } else if (begins(said, "WRONGTYPE")) {
    error.code = ErrorCode::conflict;
    error.hint = "a key with the name of the stream holds something else: rename one of them";
  } else if (begins(said, "NOGROUP")) {
    error.code = ErrorCode::not_found;
  } else if (begins(said, "READONLY")) {
    error.hint = "this server is a replica: connect to its primary";
  } else if (begins(said, "MOVED") || begins(said, "CROSSSLOT")) {
    error.hint = "Redis Cluster is not supported: connect to a single primary";
  }
  return error;
}

Result<RedisUrl> parse_redis_url(std::string_view url) {
  constexpr std::string_view kScheme = "redis://";
  const auto refuse = [] {
    return invalid("url", "url must look like redis://host:6379 or redis://user:password@host:6379/0");
  };
  if (!url.starts_with(kScheme)) return refuse();
  std::string_view rest = url.substr(kScheme.size());
  RedisUrl read;
  if (const auto at = rest.rfind('@'); at != rest.npos) {
    const std::string_view who = rest.substr(0, at);
    const auto colon = who.find(':');
    read.user = who.substr(0, colon);
    if (colon != who.npos) read.password = who.substr(colon + 1);
    rest = rest.substr(at + 1);
  }
  const auto number = [](std::string_view digits, int& to) {
    return is_digits(digits) && std::from_chars(digits.data(), digits.data() + digits.size(), to).ec == std::errc{};
  };
  if (const auto slash = rest.find('/'); slash != rest.npos) {
    const std::string_view database = rest.substr(slash + 1);
    if (!database.empty() && !number(database, read.database)) return refuse();
    rest = rest.substr(0, slash);
  }
  if (const auto colon = rest.rfind(':'); colon != rest.npos && rest.find(']', colon) == rest.npos) {
    if (!number(rest.substr(colon + 1), read.port) || read.port < 1 || read.port > 65'535) return refuse();
    rest = rest.substr(0, colon);
  }
  if (rest.starts_with('[') && rest.ends_with(']')) rest = rest.substr(1, rest.size() - 2);
  if (rest.empty()) return refuse();
  read.host = rest;
  return read;
}

Result<std::unique_ptr<RedisConnection>> RedisConnection::open(const RedisUrl& url, const BrokerOptions& options) {
  redisContext* context = redisConnectWithTimeout(url.host.c_str(), url.port, as_timeval(options.connect_timeout));
  if (context == nullptr)
    return Error{ErrorCode::exhausted, Retry::safe, "no memory for a connection to Redis", {}, {}};
  std::unique_ptr<RedisConnection> connection{new RedisConnection{context}};
  if (context->err != 0) {
    return Error{ErrorCode::unavailable,
                 Retry::safe,
                 "cannot connect to Redis at " + url.host + ':' + std::to_string(url.port) + ": " +
                     printable(std::string_view{static_cast<const char*>(context->errstr)}),
                 {},
                 "is redis-server running, and is the URL right?"};
  }
  redisEnableKeepAlive(context);
  SLUICE_CHECK(connection->greet(url, options));
  return connection;
}

Result<void> RedisConnection::greet(const RedisUrl& url, const BrokerOptions& options) {
  const auto deadline = RedisClock::now() + options.connect_timeout;
  const std::string& user = options.user.empty() ? url.user : options.user;
  const std::string& password = options.password.empty() ? url.password : options.password;
  // Nothing of value was sent yet, whatever happens here.
  const auto safely = [](Error error) {
    error.retry = Retry::safe;
    return error;
  };
  if (!password.empty()) {
    const auto answer = user.empty() ? ask({"AUTH", password}, deadline) : ask({"AUTH", user, password}, deadline);
    if (!answer) return safely(answer.error());
  }
  if (url.database != 0) {
    const std::string database = std::to_string(url.database);
    if (const auto answer = ask({"SELECT", database}, deadline); !answer) return safely(answer.error());
  }
  for (const std::string_view text : kTexts) {
    const auto answer = ask({"SCRIPT", "LOAD", text}, deadline);
    if (!answer) return safely(answer.error());
    digests_.emplace_back(text_of(answer->get()));
  }
  max_bytes_ = kDefaultMaxBytes;
  // Servers that others run may refuse CONFIG.
  const auto limit = ask({"CONFIG", "GET", "proto-max-bulk-len"}, deadline);
  if (limit && (*limit)->elements == 2) {
    const std::string_view digits = text_of((*limit)->element[1]);
    std::from_chars(digits.data(), digits.data() + digits.size(), max_bytes_);
  }
  return {};
}

void RedisConnection::append(const std::vector<std::string_view>& words) {
  std::vector<const char*> texts;
  std::vector<std::size_t> sizes;
  texts.reserve(words.size());
  sizes.reserve(words.size());
  for (const std::string_view word : words) {
    texts.push_back(word.data() == nullptr ? "" : word.data());
    sizes.push_back(word.size());
  }
  redisAppendCommandArgv(context_.get(), static_cast<int>(words.size()), texts.data(), sizes.data());
  ++unanswered_;
  unsent_ = true;
}

void RedisConnection::append(Script script, const std::vector<std::string_view>& keys,
                             const std::vector<std::string_view>& arguments) {
  const std::string count = std::to_string(keys.size());
  std::vector<std::string_view> words{"EVALSHA", digests_[static_cast<std::size_t>(script)], count};
  words.insert(words.end(), keys.begin(), keys.end());
  words.insert(words.end(), arguments.begin(), arguments.end());
  append(words);
}

Error RedisConnection::broken() {
  const std::string reason =
      context_->err == 0 ? "it hung up" : printable(std::string_view{static_cast<const char*>(context_->errstr)});
  return {
      ErrorCode::unavailable, Retry::in_doubt, "the connection to Redis broke before it answered: " + reason, {}, {}};
}

Result<void> RedisConnection::write(RedisClock::time_point deadline) {
  if (!unsent_) return {};
  redisSetTimeout(context_.get(), as_timeval(duration_cast<microseconds>(deadline - RedisClock::now())));
  int done = 0;
  while (done == 0) {
    if (redisBufferWrite(context_.get(), &done) != REDIS_OK) return broken();
    if (done == 0 && RedisClock::now() >= deadline) {
      context_->err = REDIS_ERR_IO;
      return Error{ErrorCode::timeout, Retry::in_doubt, "Redis did not take the commands in time", {}, {}};
    }
  }
  unsent_ = false;
  return {};
}

Result<RedisReply> RedisConnection::next(RedisClock::time_point deadline, const std::stop_token& stop) {
  SLUICE_CHECK(write(deadline));
  while (true) {
    void* raw = nullptr;
    if (redisGetReplyFromReader(context_.get(), &raw) != REDIS_OK) return broken();
    if (raw != nullptr) {
      --unanswered_;
      return RedisReply{static_cast<redisReply*>(raw)};
    }
    const auto left = duration_cast<milliseconds>(deadline - RedisClock::now());
    if (left <= milliseconds{0} || stop.stop_requested()) {
      return Error{ErrorCode::timeout, Retry::in_doubt, "Redis did not answer in time", {}, {}};
    }
    pollfd descriptor{context_->fd, POLLIN, 0};
    if (::poll(&descriptor, 1, static_cast<int>(std::min(left, kGlance).count())) <= 0) continue;
    if (redisBufferRead(context_.get()) != REDIS_OK) return broken();
  }
}

Result<RedisReply> RedisConnection::ask(const std::vector<std::string_view>& words, RedisClock::time_point deadline) {
  append(words);
  SLUICE_TRY(RedisReply reply, next(deadline, {}));
  if (reply->type == REDIS_REPLY_ERROR) return error_of(text_of(reply.get()));
  return reply;
}

bool RedisConnection::is_idle() const {
  if (unanswered_ != 0 || context_->err != 0) return false;
  // An idle connection has nothing to say: what can be read is its end.
  pollfd descriptor{context_->fd, POLLIN, 0};
  return ::poll(&descriptor, 1, 0) == 0;
}

Result<RedisLink::Lease> RedisLink::lease() {
  {
    const std::lock_guard lock{mutex_};
    while (!idle_.empty()) {
      std::unique_ptr<RedisConnection> kept = std::move(idle_.back());
      idle_.pop_back();
      if (kept->is_idle()) return Lease{*this, std::move(kept)};
    }
    if (last_error_ && RedisClock::now() - failed_at_ < kConnectPause) return *last_error_;
  }
  auto made = RedisConnection::open(url_, options_);
  const std::lock_guard lock{mutex_};
  if (!made) {
    last_error_ = made.error();
    failed_at_ = RedisClock::now();
    return made.error();
  }
  last_error_.reset();
  return Lease{*this, *std::move(made)};
}

void RedisLink::give_back(std::unique_ptr<RedisConnection> connection) {
  if (!connection->is_idle()) return;
  const std::lock_guard lock{mutex_};
  if (idle_.size() < kMostIdle) idle_.push_back(std::move(connection));
}

}  // namespace sluice::broker
