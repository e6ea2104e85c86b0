// Logging in to NATS: a user, a token or the credentials of nsc, TLS with or without a certificate of our own, and what
// a refusal means to an operator.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "broker/nats/nats.hpp"
#include "core/redact.hpp"
#include "core/try.hpp"
#include "core/words.hpp"

namespace sluice::broker {
namespace {

constexpr std::string_view kCredentials = "the credentials file";

// What libnats knows beyond the status, which is all where it keeps another error by now.
std::string detail_of(natsStatus status) {
  natsStatus of = NATS_OK;
  const char* detail = nats_GetLastError(&of);
  if (detail == nullptr || *detail == '\0' || of != status) return lower_case(natsStatus_GetText(status));
  // Where in its sources it stands: `(conn.c:733): `.
  const std::string_view text{detail};
  const std::size_t place = text.starts_with('(') ? text.find("): ") : text.npos;
  return printable(place == text.npos ? text : text.substr(place + 3));
}

// An operator can mend a file while events wait, and the next connection reads it anew.
Error unusable(std::string_view setting, const std::string& path, std::string_view reason) {
  return {ErrorCode::unavailable,
          Retry::safe,
          "cannot use " + std::string{setting} + ' ' + path + ": " + std::string{reason},
          std::string{setting},
          {}};
}

Result<void> check_readable(std::string_view setting, const std::string& path) {
  if (path.empty() || ::access(path.c_str(), R_OK) == 0) return {};
  return unusable(setting, path, lower_case(std::generic_category().message(errno)));
}

Result<void> set_identity(natsOptions* to, const BrokerOptions& from) {
  SLUICE_CHECK(settled_option(natsOptions_SetName(to, from.client_name.c_str())));
  if (!from.user.empty())
    SLUICE_CHECK(settled_option(natsOptions_SetUserInfo(to, from.user.c_str(), from.password.c_str())));
  if (!from.token.empty()) SLUICE_CHECK(settled_option(natsOptions_SetToken(to, from.token.c_str())));
  if (from.credentials_file.empty()) return {};
  SLUICE_CHECK(check_readable(kCredentials, from.credentials_file));
  return settled_option(natsOptions_SetUserCredentialsFromFiles(to, from.credentials_file.c_str(), nullptr));
}

bool is_tls(const BrokerOptions& options) {
  return !options.tls_ca.empty() || !options.tls_cert.empty() ||
         std::any_of(options.urls.begin(), options.urls.end(),
                     [](const std::string& url) { return url.starts_with("tls://"); });
}

Result<void> set_tls(natsOptions* to, const BrokerOptions& from) {
  if (!is_tls(from)) return {};
  SLUICE_CHECK(settled_option(natsOptions_SetSecure(to, true)));
  SLUICE_CHECK(check_readable("tls_ca", from.tls_ca));
  SLUICE_CHECK(check_readable("tls_cert", from.tls_cert));
  SLUICE_CHECK(check_readable("tls_key", from.tls_key));
  if (!from.tls_ca.empty()) {
    const natsStatus status = natsOptions_LoadCATrustedCertificates(to, from.tls_ca.c_str());
    if (status != NATS_OK) return unusable("tls_ca", from.tls_ca, detail_of(status));
  }
  if (!from.tls_cert.empty()) {
    const natsStatus status = natsOptions_LoadCertificatesChain(to, from.tls_cert.c_str(), from.tls_key.c_str());
    if (status != NATS_OK)
      return unusable("tls_cert", from.tls_cert + " with tls_key " + from.tls_key, detail_of(status));
  }
  if (from.tls_server_name.empty()) return {};
  return settled_option(natsOptions_SetExpectedHostname(to, from.tls_server_name.c_str()));
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// A server that misses our certificate or does not trust it tells us so with an alert of TLS, if we hear that before it
// has hung up: in TLS 1.3 the handshake is over for us by then.
bool is_about_our_certificate(natsStatus status, std::string_view detail, const BrokerOptions& options) {
  if (has(detail, "alert") && (has(detail, "certificate") || has(detail, "unknown ca"))) return true;
  return is_tls(options) &&
         (status == NATS_PROTOCOL_ERROR || status == NATS_IO_ERROR || status == NATS_CONNECTION_CLOSED);
}

Error without_our_certificate(const std::string& servers, const BrokerOptions& options) {
  Error error{ErrorCode::forbidden, Retry::safe, {}, "tls_cert", {}};
  if (options.tls_cert.empty()) {
    error.message = "NATS at " + servers + " ended the TLS handshake: it seems to want a client certificate";
    error.hint = "give tls_cert and tls_key; the log of nats-server says more";
  } else {
    error.message = "NATS at " + servers + " ended the TLS handshake: it seems to refuse the client certificate " +
                    options.tls_cert;
    error.hint =
        "it must be valid, and of an authority that nats-server trusts (tls { ca_file }); the log of nats-server says "
        "more";
  }
  return error;
}

Error without_their_certificate(const std::string& servers, const std::string& detail) {
  const bool named = has(lower_case(detail), "hostname mismatch") || has(lower_case(detail), "address mismatch");
  return {ErrorCode::unavailable, Retry::safe, "cannot trust the certificate of NATS at " + servers + ": " + detail,
          named ? "tls_server_name" : "tls_ca",
          named ? "give tls_server_name, a name that the certificate has"
                : "tls_ca must name the file of the authority that has signed it"};
}

// Of the file itself, not of what the server thinks of it.
bool is_about_credentials(natsStatus status) {
  return status == NATS_ERR || status == NATS_NOT_FOUND || status == NATS_INVALID_ARG || status == NATS_ILLEGAL_STATE;
}

}  // namespace

Result<void> settled_option(natsStatus status) {
  if (status == NATS_OK) return {};
  Error error = error_of(status, "set up a connection to NATS", Retry::safe);
  error.code = ErrorCode::unavailable;  // no message is at fault
  error.retry = Retry::safe;
  return error;
}

Result<void> set_login(natsOptions* to, const BrokerOptions& from) {
  SLUICE_CHECK(set_identity(to, from));
  return set_tls(to, from);
}

Error refused_connection(natsStatus status, const BrokerOptions& options) {
  std::vector<std::string> shown;
  for (const std::string& url : options.urls) shown.push_back(redact_address(url));
  const std::string servers = joined(shown, ", ");
  const std::string detail = detail_of(status);
  if (status == NATS_CONNECTION_AUTH_FAILED) {
    return {ErrorCode::forbidden,
            Retry::safe,
            "NATS at " + servers + " refuses these credentials",
            {},
            "check user and password, token, credentials file or client certificate"};
  }
  if (is_about_our_certificate(status, detail, options)) return without_our_certificate(servers, options);
  if (status == NATS_SSL_ERROR) return without_their_certificate(servers, detail);
  if (status == NATS_SECURE_CONNECTION_WANTED) {
    return {ErrorCode::unavailable,
            Retry::safe,
            "NATS at " + servers + " does not speak TLS",
            {},
            "turn tls on in nats-server, or write nats:// and give no tls_ca and no tls_cert"};
  }
  if (!options.credentials_file.empty() && is_about_credentials(status)) {
    return unusable(kCredentials, options.credentials_file, detail);
  }
  return {ErrorCode::unavailable,
          Retry::safe,
          "cannot connect to NATS at " + servers + ": " + lower_case(natsStatus_GetText(status)),
          {},
          "is nats-server running, and is the URL right?"};
}

}  // namespace sluice::broker
