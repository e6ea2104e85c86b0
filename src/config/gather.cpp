#include "config/gather.hpp"

#include <cassert>
#include <filesystem>
#include <system_error>
#include <utility>

#include "config/config_file.hpp"
#include "core/redact.hpp"
#include "core/try.hpp"
#include "core/words.hpp"

namespace sluice::config {
namespace {

// The XDG rules: a relative path in the variable is ignored.
std::optional<std::string> xdg(const Environment& environment, std::string_view name, std::string_view below_home) {
  if (auto folder = variable(environment, name); folder && folder->starts_with('/')) return folder;
  if (const auto home = variable(environment, "HOME")) return *home + '/' + std::string{below_home};
  return std::nullopt;
}

std::string standard_value(const Key& key, const Sources& sources) {
  if (key.name == "store") {
    const auto folder = xdg(sources.environment, "XDG_DATA_HOME", ".local/share");
    return folder ? "sqlite:" + *folder + "/sluice/sluice.db" : "sqlite:sluice.db";
  }
  if (key.name == "actor") {
    auto user = variable(sources.environment, "USER");
    if (!user) user = variable(sources.environment, "LOGNAME");
    if (!user) user = sources.user.empty() ? "unknown" : sources.user;
    return sources.hostname.empty() ? *user : *user + '@' + sources.hostname;
  }
  return std::string{key.standard};
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

std::optional<std::string> find_file(const Sources& sources) {
  if (sources.file) return sources.file;
  if (auto named = variable(sources.environment, "SLUICE_CONFIG")) return named;
  if (exists("sluice.toml")) return "sluice.toml";
  if (const auto folder = xdg(sources.environment, "XDG_CONFIG_HOME", ".config")) {
    std::string path = *folder + "/sluice/sluice.toml";
    if (exists(path)) return path;
  }
  return std::nullopt;
}

Result<void> check_known(const std::vector<FileEntry>& entries) {
  for (const FileEntry& entry : entries) {
    if (find_key(entry.key) != nullptr) continue;
    Error error = invalid(entry.key, entry.where + ": unknown key `" + entry.key + '`');
    if (const auto near = nearest(entry.key, key_names()))
      error.message += "; did you mean `" + std::string{*near} + "`?";
    error.hint = "`sluice config show` lists every key";
    return error;
  }
  return {};
}

Setting collect(const Key& key, const Sources& sources, const std::vector<FileEntry>& entries) {
  Setting setting{&key, {}};
  if (const auto flag = sources.flags.find(key.name); flag != sources.flags.end()) {
    setting.candidates.push_back({Origin::flag, std::string{key.flag}, flag->second});
  }
  for (const std::string_view name : key.environment) {
    if (auto value = variable(sources.environment, name)) {
      setting.candidates.push_back({Origin::environment, std::string{name}, *std::move(value)});
    }
  }
  for (const FileEntry& entry : entries) {
    if (entry.key == key.name) setting.candidates.push_back({Origin::file, entry.where, entry.value});
  }
  setting.candidates.push_back({Origin::standard, "default", standard_value(key, sources)});
  return setting;
}

}  // namespace

std::optional<std::string> variable(const Environment& environment, std::string_view name) {
  const auto found = environment.find(name);
  if (found == environment.end() || found->second.empty()) return std::nullopt;
  return found->second;
}

std::string_view name(Origin origin) {
  switch (origin) {
    case Origin::flag:
      return "flag";
    case Origin::environment:
      return "environment";
    case Origin::file:
      return "file";
    case Origin::standard:
      return "default";
  }
  return "default";
}

const Setting& Settings::of(std::string_view key) const {
  for (const Setting& setting : all) {
    if (setting.key->name == key) return setting;
  }
  assert(false && "not a key of the table");
  std::abort();
}

Result<Settings> gather(const Sources& sources) {
  Settings settings;
  std::vector<FileEntry> entries;
  settings.environment = sources.environment;
  settings.file = find_file(sources);
  if (settings.file) {
    SLUICE_TRY(auto parsed, read_file(*settings.file));
    entries = std::move(parsed.entries);
    settings.tables = std::move(parsed.tables);
    SLUICE_CHECK(check_known(entries));
  }
  for (const Key& key : keys()) settings.all.push_back(collect(key, sources, entries));
  return settings;
}

std::string shown(const Key& key, std::string_view value) {
  if (value == kNone) return std::string{value};
  switch (key.secrecy) {
    case Secrecy::open:
      return std::string{value};
    case Secrecy::password:
      return redact_dsn(value);
    case Secrecy::address:
      return redact_address(value);
    case Secrecy::whole:
      return "***";
  }
  return "***";
}

}  // namespace sluice::config
