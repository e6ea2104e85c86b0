#include "config/config_file.hpp"

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include "core/characters.hpp"

namespace sluice::config {
namespace {

constexpr std::array<std::string_view, 4> kSections{"tokens", "hooks", "sinks", "subscriptions"};

using Entry = std::pair<const toml::key*, const toml::node*>;

std::string position(const std::string& path, const toml::source_region& region) {
  return path + ':' + std::to_string(region.begin.line) + ':' + std::to_string(region.begin.column);
}

// toml++ sorts by name; people read, and errors are told, from the top.
std::vector<Entry> in_file_order(const toml::table& table) {
  std::vector<Entry> entries;
  for (const auto& [key, node] : table) entries.emplace_back(&key, &node);
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    const auto& left = a.first->source().begin;
    const auto& right = b.first->source().begin;
    return std::pair{left.line, left.column} < std::pair{right.line, right.column};
  });
  return entries;
}

std::optional<std::string> scalar(const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto number = node.value_exact<std::int64_t>()) return std::to_string(*number);
  if (const auto flag = node.value_exact<bool>()) return *flag ? "true" : "false";
  if (const auto real = node.value_exact<double>()) {
    std::ostringstream text;
    text << *real;
    return text.str();
  }
  return std::nullopt;
}

FileValue::Kind kind_of(const toml::node& node) {
  if (node.is_integer()) return FileValue::Kind::integer;
  if (node.is_floating_point()) return FileValue::Kind::real;
  return node.is_boolean() ? FileValue::Kind::boolean : FileValue::Kind::text;
}

Error not_a_value(const std::string& where, const std::string& name, std::string_view expected) {
  return invalid(name, where + ": `" + name + "` must be " + std::string{expected});
}

// Reads one file; remembers the first thing that is wrong.
class Reading {
 public:
  explicit Reading(const std::string& path) : path_(path) {}

  Result<FileContent> read(const toml::table& root) {
    for (const auto& [key, node] : in_file_order(root)) {
      const std::string name{key->str()};
      if (std::find(kSections.begin(), kSections.end(), name) != kSections.end()) {
        read_section(name, *key, *node);
      } else {
        flatten(name, *key, *node);
      }
    }
    if (error_) return *std::move(error_);
    return std::move(content_);
  }

 private:
  void refuse(Error error) {
    if (!error_) error_ = std::move(error);
  }

  void flatten(const std::string& name, const toml::key& key, const toml::node& node) {
    if (const toml::table* inner = node.as_table()) {
      for (const auto& [member, value] : in_file_order(*inner)) {
        flatten(name + '.' + std::string{member->str()}, *member, *value);
      }
      return;
    }
    const std::string where = position(path_, key.source());
    const auto value = scalar(node);
    if (!value) return refuse(not_a_value(where, name, "a string, a number or true/false"));
    content_.entries.push_back({name, *value, where});
  }

  void read_section(const std::string& section, const toml::key& key, const toml::node& node) {
    const auto expected = "tables with a name: write [" + section + ".NAME]";
    const toml::table* tables = node.as_table();
    if (tables == nullptr) return refuse(not_a_value(position(path_, key.source()), section, expected));
    for (const auto& [name, value] : in_file_order(*tables)) {
      FileTable table{section, std::string{name->str()}, {}, position(path_, name->source())};
      const toml::table* members = value->as_table();
      if (members == nullptr) return refuse(not_a_value(table.where, table.path(), expected));
      table.members = members_of(*members, table.path());
      content_.tables.push_back(std::move(table));
    }
  }

  std::vector<FileMember> members_of(const toml::table& table, const std::string& name) {
    std::vector<FileMember> members;
    for (const auto& [key, node] : in_file_order(table)) {
      const std::string where = position(path_, key->source());
      members.push_back({std::string{key->str()}, value_of(*node, name + '.' + std::string{key->str()}, where), where});
    }
    return members;
  }

  FileValue value_of(const toml::node& node, const std::string& name, const std::string& where) {
    FileValue value;
    value.where = where;
    if (const toml::table* table = node.as_table()) {
      value.kind = FileValue::Kind::table;
      value.members = members_of(*table, name);
    } else if (const toml::array* list = node.as_array()) {
      value.kind = FileValue::Kind::list;
      for (const toml::node& item : *list) value.items.push_back(value_of(item, name, position(path_, item.source())));
    } else if (auto text = scalar(node)) {
      value.kind = kind_of(node);
      value.text = *std::move(text);
    } else {
      refuse(not_a_value(where, name, "a string, a number, true/false, a list or a table"));
    }
    return value;
  }

  const std::string& path_;
  FileContent content_;
  std::optional<Error> error_;
};

}  // namespace

Result<FileContent> parse_file(std::string_view text, const std::string& path) {
  const toml::parse_result parsed = toml::parse(text, path);
  if (!parsed) {
    const toml::parse_error& problem = parsed.error();
    return invalid("config", position(path, problem.source()) + ": " + std::string{problem.description()});
  }
  return Reading{path}.read(parsed.table());
}

Result<FileContent> read_file(const std::string& path) {
  const auto unreadable = [&path](std::string_view why) {
    return invalid("config", "the configuration file " + path + " cannot be read: " + std::string{why});
  };
  if (std::error_code ignored; std::filesystem::is_directory(path, ignored)) return unreadable("it is a directory");
  errno = 0;
  std::ifstream file{path, std::ios::binary};
  if (!file) return unreadable(std::strerror(errno));
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  return parse_file(text, path);
}

namespace {

bool is_bare(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(),
                                      [](char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '-'; });
}

}  // namespace

std::string FileTable::path() const { return section + '.' + (is_bare(name) ? name : '"' + name + '"'); }

}  // namespace sluice::config
