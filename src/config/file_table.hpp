// What the tables of sluice.toml hold, apart from the library that reads TOML.
#pragma once

#include <string>
#include <vector>

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

}  // namespace sluice::config
