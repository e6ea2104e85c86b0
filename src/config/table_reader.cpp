#include "config/table_reader.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <utility>

#include "core/words.hpp"
#include "crypto/digest.hpp"

namespace sluice::config {
namespace {

template <class Number>
std::optional<Number> parse_number(const FileValue& value, Bounds<Number> bounds) {
  if (value.kind != FileValue::Kind::integer && value.kind != FileValue::Kind::real) return std::nullopt;
  Number number{};
  const char* end = value.text.data() + value.text.size();
  const auto [stop, problem] = std::from_chars(value.text.data(), end, number);
  if (problem != std::errc{} || stop != end || number < bounds.least || number > bounds.most) return std::nullopt;
  return number;
}

template <class Number>
std::string range_of(Bounds<Number> bounds) {
  std::ostringstream text;
  text << "from " << bounds.least << " to " << bounds.most;
  return text.str();
}

}  // namespace

const FileMember* TableReader::find(std::string_view key) const {
  const auto found =
      std::find_if(members_.begin(), members_.end(), [key](const FileMember& member) { return member.key == key; });
  return found == members_.end() ? nullptr : &*found;
}

const FileMember* TableReader::ask(std::string_view key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.push_back(key);
  return find(key);
}

bool TableReader::has(std::string_view key) const { return find(key) != nullptr; }

const std::string& TableReader::where_of(std::string_view key) const {
  const FileMember* member = find(key);
  return member == nullptr ? where_ : member->where;
}

void TableReader::refuse(Error error) {
  if (!error_) error_ = std::move(error);
}

void TableReader::refuse(std::string_view key, const std::string& message, std::string hint) {
  Error error = invalid(name_of(key), where_of(key) + ": " + name_of(key) + ' ' + message);
  error.hint = std::move(hint);
  refuse(std::move(error));
}

const FileValue* TableReader::value(std::string_view key) {
  const FileMember* member = ask(key);
  return member == nullptr ? nullptr : &member->value;
}

std::optional<std::string> TableReader::text(std::string_view key) {
  const FileValue* given = value(key);
  if (given == nullptr) return std::nullopt;
  if (given->kind != FileValue::Kind::text || given->text.empty()) {
    refuse(key, "must be a string that is not empty; put it in quotes");
    return std::nullopt;
  }
  return given->text;
}

std::vector<std::string> TableReader::texts(std::string_view key) {
  const FileValue* given = value(key);
  if (given == nullptr) return {};
  if (given->kind == FileValue::Kind::text && !given->text.empty()) return {given->text};
  std::vector<std::string> all;
  for (const FileValue& item : given->items) {
    if (item.kind == FileValue::Kind::text && !item.text.empty()) all.push_back(item.text);
  }
  if (all.empty() || all.size() != given->items.size()) refuse(key, "must be a list of strings: [\"a\", \"b\"]");
  return all;
}

std::optional<Duration> TableReader::duration(std::string_view key) {
  const auto given = value(key);
  if (given == nullptr) return std::nullopt;
  const auto parsed = parse_duration(given->text, key);
  if (!parsed || *parsed <= Duration::zero()) {
    refuse(key, "must be a duration above zero; write \"250ms\", \"5s\", \"10m\", \"2h\" or \"1d\"");
    return std::nullopt;
  }
  return *parsed;
}

std::optional<bool> TableReader::flag(std::string_view key) {
  const FileValue* given = value(key);
  if (given == nullptr) return std::nullopt;
  if (given->kind != FileValue::Kind::boolean) refuse(key, "must be true or false");
  return given->text == "true";
}

std::optional<int> TableReader::integer(std::string_view key, Bounds<int> bounds) {
  const FileValue* given = value(key);
  if (given == nullptr) return std::nullopt;
  const auto number = parse_number(*given, bounds);
  if (!number) refuse(key, "must be a whole number " + range_of(bounds));
  return number;
}

std::vector<int> TableReader::integers(std::string_view key, Bounds<int> bounds) {
  const FileValue* given = value(key);
  if (given == nullptr) return {};
  std::vector<int> all;
  for (const FileValue& item : given->items) {
    if (const auto number = parse_number(item, bounds)) all.push_back(*number);
  }
  const bool complete = given->kind == FileValue::Kind::list && all.size() == given->items.size();
  if (!complete) refuse(key, "must be a list of whole numbers " + range_of(bounds));
  return all;
}

std::optional<double> TableReader::number(std::string_view key, Bounds<double> bounds) {
  const FileValue* given = value(key);
  if (given == nullptr) return std::nullopt;
  const auto parsed = parse_number(*given, bounds);
  if (!parsed) refuse(key, "must be a number " + range_of(bounds));
  return parsed;
}

std::optional<std::size_t> TableReader::choice(std::string_view key, std::span<const std::string_view> choices) {
  const FileValue* given = value(key);
  if (given == nullptr) return std::nullopt;
  const auto found = std::find(choices.begin(), choices.end(), given->text);
  if (given->kind == FileValue::Kind::text && found != choices.end()) {
    return static_cast<std::size_t>(found - choices.begin());
  }
  refuse(key, "must be one of " + joined(choices, ", "));
  return std::nullopt;
}

Result<void> TableReader::finish() const {
  for (const FileMember& member : members_) {
    if (std::find(known_.begin(), known_.end(), member.key) != known_.end()) continue;
    Error error = invalid(name_of(member.key), member.where + ": unknown key `" + name_of(member.key) + '`');
    if (const auto near = nearest(member.key, known_)) error.message += "; did you mean `" + std::string{*near} + "`?";
    error.hint = "known here: " + joined(known_, ", ");
    return error;
  }
  if (error_) return *error_;
  return {};
}

namespace {

constexpr std::string_view kPrefix = "whsec_";
constexpr std::size_t kShortestKey = 24;
constexpr std::size_t kLongestKey = 64;

std::optional<Secret> decoded(const Secret& secret) {
  std::string_view text = secret.reveal();
  if (!text.starts_with(kPrefix)) return std::nullopt;
  text.remove_prefix(kPrefix.size());
  auto bytes = crypto::from_base64(text);
  if (!bytes || bytes->size() < kShortestKey || bytes->size() > kLongestKey) return std::nullopt;
  return Secret{*std::move(bytes)};
}

}  // namespace

std::optional<Secret> SecretReader::of_variable(std::string_view key, const std::string& name) {
  if (auto found = variable(environment_, name)) return Secret{*std::move(found)};
  if (!missing_) {
    missing_ = invalid(table_.name_of(key), table_.where_of(key) + ": " + table_.name_of(key) +
                                                " names the environment variable " + name +
                                                ", which is not set; set it and start again");
  }
  return std::nullopt;
}

std::optional<Secret> SecretReader::one(std::string_view key, std::string_view env_key) {
  const auto given = table_.text(key);
  const auto name = table_.text(env_key);
  if (given && name) table_.refuse(env_key, "and " + std::string{key} + " cannot both be there; take one of them away");
  if (given) return Secret{*given};
  return name ? of_variable(env_key, *name) : std::nullopt;
}

std::vector<Secret> SecretReader::all() {
  std::vector<Secret> secrets;
  for (const std::string_view key : {"secret", "secrets"}) {
    for (std::string& text : table_.texts(key)) secrets.emplace_back(std::move(text));
  }
  for (const std::string_view key : {"secret_env", "secret_envs"}) {
    for (const std::string& name : table_.texts(key)) {
      if (auto secret = of_variable(key, name)) secrets.push_back(*std::move(secret));
    }
  }
  return secrets;
}

std::vector<Secret> SecretReader::signing_keys() {
  std::vector<Secret> keys;
  for (const Secret& secret : all()) {
    if (auto key = decoded(secret)) {
      keys.push_back(*std::move(key));
      continue;
    }
    // The value is not repeated: it is nearly a secret.
    table_.refuse(table_.has("secret")    ? "secret"
                  : table_.has("secrets") ? "secrets"
                                          : "secret_env",
                  "must be whsec_ followed by base64 of 24 to 64 bytes",
                  "make one: printf 'whsec_%s\\n' \"$(openssl rand -base64 32)\"");
  }
  return keys;
}

std::map<std::string, Secret> SecretReader::named(std::string_view key, std::string_view env_key) {
  std::map<std::string, Secret> all;
  for (const std::string_view from : {key, env_key}) {
    const FileValue* table = table_.value(from);
    if (table == nullptr) continue;
    if (table->kind != FileValue::Kind::table) table_.refuse(from, "must be a table: { Name = \"value\" }");
    for (const FileMember& member : table->members) {
      if (member.value.kind != FileValue::Kind::text) table_.refuse(from, "must have strings as values");
      const auto secret = from == key ? std::optional{Secret{member.value.text}} : of_variable(from, member.value.text);
      const bool fresh = !secret || all.emplace(member.key, *secret).second;
      if (!fresh) table_.refuse(from, "names " + member.key + " a second time; take one of them away");
    }
  }
  return all;
}

}  // namespace sluice::config
