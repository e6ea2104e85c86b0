#include "runtime/thrown.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <system_error>
#include <typeinfo>

namespace sluice::runtime {
namespace {

// `billing::CardDeclined` is filed under CardDeclined: a class is one word, because last_error is split at
// its first colon.
std::string short_type_name(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> demangled{abi::__cxa_demangle(type.name(), nullptr, nullptr, &status),
                                                         std::free};
  if (status != 0 || !demangled) return std::string{error_class::unknown};
  std::string name = demangled.get();
  name.resize(std::min(name.size(), name.find('<')));
  const std::size_t colon = name.rfind(':');
  return colon == std::string::npos ? name : name.substr(colon + 1);
}

bool is_connection_error(const std::error_code& code) {
  return code == std::errc::connection_refused || code == std::errc::connection_reset ||
         code == std::errc::connection_aborted || code == std::errc::not_connected || code == std::errc::broken_pipe ||
         code == std::errc::host_unreachable || code == std::errc::network_unreachable ||
         code == std::errc::network_down;
}

std::string system_error_class(const std::system_error& error) {
  if (error.code() == std::errc::timed_out) return std::string{error_class::timeout};
  if (is_connection_error(error.code())) return std::string{error_class::connection};
  return short_type_name(typeid(error));
}

}  // namespace

Failure failure_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const TerminalError& error) {
    return {error.error_class(), error.what(), {}, true};
  } catch (const SqlError& error) {
    return {{}, error.what(), error.sqlstate(), false};
  } catch (const HandlerError& error) {
    return {error.error_class(), error.what(), {}, false};
  } catch (const std::system_error& error) {
    return {system_error_class(error), error.what(), {}, false};
  } catch (const std::exception& error) {
    return {short_type_name(typeid(error)), error.what(), {}, false};
  } catch (...) {
    return {std::string{error_class::unknown}, "the handler threw something that is no std::exception", {}, false};
  }
}

Outcome outcome_of(const Verdict& verdict) {
  switch (verdict.kind) {
    case Verdict::Kind::handled:
      return Outcome::handled();
    case Verdict::Kind::deferred:
      return verdict.retry_after ? Outcome::deferred_for(*verdict.retry_after) : Outcome::deferred(verdict.until);
    case Verdict::Kind::stopped:
      return Outcome::released({{}, verdict.message, {}, false});
    case Verdict::Kind::failed:
      break;
  }
  Outcome outcome = Outcome::failed({verdict.error_class, verdict.message, {}, verdict.terminal});
  outcome.retry_after = verdict.retry_after;
  return outcome;
}

}  // namespace sluice::runtime
