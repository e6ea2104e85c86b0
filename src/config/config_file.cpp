#include "config/config_file.hpp"

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <system_error>

namespace sluice::config {
namespace {

std::string position(const std::string& path, const toml::source_region& region) {
  return path + ':' + std::to_string(region.begin.line) + ':' + std::to_string(region.begin.column);
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

// An error here says where; nullopt is success.
std::optional<Error> flatten(const toml::table& table, const std::string& prefix, const std::string& path,
                             std::vector<FileEntry>& entries) {
  for (const auto& [key, node] : table) {
    const std::string name = prefix + std::string{key.str()};
    if (const toml::table* inner = node.as_table()) {
      if (auto error = flatten(*inner, name + '.', path, entries)) return error;
      continue;
    }
    const std::string where = position(path, key.source());
    const auto value = scalar(node);
    if (!value) return invalid(name, where + ": `" + name + "` must be a string, a number or true/false");
    entries.push_back({name, *value, where});
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<FileEntry>> parse_file(std::string_view text, const std::string& path) {
  const toml::parse_result parsed = toml::parse(text, path);
  if (!parsed) {
    const toml::parse_error& problem = parsed.error();
    return invalid("config", position(path, problem.source()) + ": " + std::string{problem.description()});
  }
  std::vector<FileEntry> entries;
  if (auto error = flatten(parsed.table(), "", path, entries)) return *std::move(error);
  return entries;
}

Result<std::vector<FileEntry>> read_file(const std::string& path) {
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

}  // namespace sluice::config
