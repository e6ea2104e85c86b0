// Where a command speaks: data on `out`, everything else on `err`. Injected, so that tests read both.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>

#include "cli/adapters.hpp"
#include "cli/command.hpp"
#include "cli/parse.hpp"
#include "config/config.hpp"
#include "config/gather.hpp"
#include "core/words.hpp"
#include "ops/relay.hpp"

namespace sluice::cli {

/// What is configured, as the switch of the relay and the doctor take it.
ops::RelaySettings relay_settings(const config::Config& config);

struct Console {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  bool in_is_tty = false;
  bool out_is_tty = false;
  bool color = false;  ///< a terminal, and NO_COLOR is not set
  bool err_is_tty = false;
  std::size_t width = 0;  ///< columns of the terminal behind `out`; 0: none, lines are as long as they are
};

// One run of one command: its arguments, its configuration, its store and its voice.

enum class Format { table, json, ndjson };

class Session {
 public:
  Session(const Arguments& arguments, const config::Sources& sources, Console& console, const Adapters& adapters);

  [[nodiscard]] const Arguments& arguments() const { return arguments_; }
  [[nodiscard]] const config::Sources& sources() const { return sources_; }
  [[nodiscard]] const Adapters& adapters() const { return adapters_; }
  [[nodiscard]] Console& console() const { return console_; }
  [[nodiscard]] std::ostream& out() const { return console_.out; }
  [[nodiscard]] Format format() const { return format_; }
  [[nodiscard]] bool dry_run() const { return arguments_.has("--dry-run"); }

  Result<config::Config> config() const { return config::load(sources_); }

  enum class Access {
    existing,       ///< an embedded file must exist
    create,         ///< an embedded file is made where it is missing
    schema,         ///< whatever schema there is, even none
    create_schema,  ///< the same, and an embedded file is made where it is missing
  };
  struct Opened {
    config::Config config;
    std::unique_ptr<store::Administering> store;
  };
  /// The configuration and the store that it names, which must exist.
  Result<Opened> open_existing() const;

  Result<std::unique_ptr<store::Administering>> open(const config::Config& config, Access access,
                                                     int connections = 2) const {
    return adapters_.open_store(open_request(config, access, connections));
  }
  /// With all its roles: for the daemon.
  Result<WholeStore> open_whole(const config::Config& config, Access access, int connections) const {
    return adapters_.open_whole(open_request(config, access, connections));
  }

  /// The flag or environment decides; else the store's newest live one.
  static Result<Generation> generation(const config::Config& config, store::Administering& store);

  [[nodiscard]] store::Actor actor(const config::Config& config) const;

  /// What the command does is traced while it is held; none: no collector is configured. Letting go sends what is left.
  [[nodiscard]] std::shared_ptr<telemetry::Exporting> exporting(const config::Config& config) const;

  /// One line on stderr, unless --quiet.
  void note(std::string_view text) const;
  /// One line on stderr with --verbose.
  void detail(std::string_view text) const;

 private:
  [[nodiscard]] OpenRequest open_request(const config::Config& config, Access access, int connections) const;

  const Arguments& arguments_;
  const config::Sources& sources_;
  Console& console_;
  const Adapters& adapters_;
  Format format_;
};

Format format_of(const Arguments& arguments);

/// Of what Session::exporting gave.
[[nodiscard]] inline Tracer* tracer_of(const std::shared_ptr<telemetry::Exporting>& exporting) {
  return exporting ? exporting->tracer() : nullptr;
}

// Asking before a bulk change.

/// Refuses, naming --yes, where a later question could not be answered; a dry run asks none.
Result<void> check_answerable(const Session& session, const std::string& purpose);

/// True with --yes, else what the person at the terminal answers. Where nobody can be asked, the error
/// names --yes.
Result<bool> confirm(const Session& session, const std::string& question);

/// Says that nothing was changed.
Exit declined(const Session& session);

/// The same for a change of `count` things: more than a hundred are confirmed by typing the number.
Result<bool> confirm_many(const Session& session, const std::string& question, std::int64_t count);

}  // namespace sluice::cli
