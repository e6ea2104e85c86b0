// sluice.toml as values: single keys flattened, each with its dotted name and where it stands; and the tables that
// declare something by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <sluice/result.hpp>

namespace sluice::config {

struct FileMember;

struct FileValue {
  enum class Kind { text, integer, real, boolean, list, table };
  Kind kind = Kind::text;
  std::string text;                 ///< of everything but lists and tables: `10`, `5s`, `true`
  std::vector<FileValue> items;     ///< of a list
  std::vector<FileMember> members;  ///< of a table, in the order of the file
  std::string where;                ///< `sluice.toml:3:9`
};

struct FileMember {
  std::string key;
  FileValue value;
  std::string where;
};

/// `[sinks.billing]`
struct FileTable {
  std::string section;  ///< `sinks`
  std::string name;     ///< `billing`
  std::vector<FileMember> members;
  std::string where;

  /// `sinks.billing`, or `subscriptions."billing.mailer"` where the name needs quotes.
  [[nodiscard]] std::string path() const;
};

struct FileEntry {
  std::string key;    ///< `worker.batch`
  std::string value;  ///< as text: `10`, `5s`, `true`
  std::string where;  ///< `sluice.toml:3:9`
};

struct FileContent {
  std::vector<FileEntry> entries;
  std::vector<FileTable> tables;  ///< of tokens, hooks, sinks and subscriptions, in the order of the file
};

/// Tables become prefixes. Strings, integers, floats and booleans are values; anything else is an error, except in
/// the tables that declare something. `path` is only used to say where. Errors give line and column.
Result<FileContent> parse_file(std::string_view text, const std::string& path);

/// Reads and parses; a file that cannot be read is an error that names it.
Result<FileContent> read_file(const std::string& path);

}  // namespace sluice::config
