#include "http/application.hpp"

#include <algorithm>
#include <utility>

#include "core/characters.hpp"
#include "core/words.hpp"
#include "http/gzip.hpp"
#include "http/router.hpp"

namespace sluice::http {
namespace {

bool has_header(const Response& response, std::string_view name) {
  return std::any_of(response.headers.begin(), response.headers.end(),
                     [&](const auto& header) { return header.first == name; });
}

bool mentions(std::string_view if_none_match, std::string_view etag) {
  return if_none_match == "*" || if_none_match.find(etag) != std::string_view::npos;
}

// No body is unpacked here: what is small on the wire may be anything but.
bool is_coded(const Request& request) {
  const auto coding = request.header("content-encoding");
  return coding && !coding->empty() && lower_case(*coding) != "identity";
}

// Sent as gzip where that helps and the client takes it; see gzip.hpp for what never is.
bool is_compressible(const Response& response) {
  return response.status == 200 && !response.stream && response.body.size() >= kLeastGzipped &&
         response.body.size() <= kMostGzipped && !has_header(response, "Content-Encoding");
}

void compress(Response& response, const Request& request) {
  response.with("Vary", "Accept-Encoding");
  if (!accepts_gzip(request.header("accept-encoding").value_or(""))) return;
  auto packed = gzip(response.body);
  if (!packed) return;
  response.body = *std::move(packed);
  response.with("Content-Encoding", "gzip");
  // The tag is that of the text: of the same bytes it would be a strong one.
  for (auto& [name, value] : response.headers) {
    if (name == "ETag" && !value.starts_with("W/")) value = "W/" + value;
  }
}

// Health is asked for by address, by probes that know no name.
bool is_probe(const Route& route) { return route.pattern == "/healthz" || route.pattern == "/readyz"; }

}  // namespace

Application::Application(Router router, Access access, ApplicationOptions options)
    : router_(std::move(router)), access_(std::move(access)), options_(std::move(options)) {}

Application::Admission Application::admit(Request& request, std::string_view target) const {
  auto parsed = parse_target(target);
  if (!parsed) return {problem(parsed.error())};
  auto path = below(options_.prefix, parsed->path);
  if (!path) return {problem(404, "not_found", "nothing is served outside of " + options_.prefix + "/")};
  request.path = *std::move(path);
  request.query = std::move(parsed->query);
  Admission admission;
  admission.match = router_.find(request.method, request.path);
  if (auto refusal = refuse(request, admission)) return {dress(*std::move(refusal), request)};
  admission.body_limit = admission.match.route->body_limit;
  return admission;
}

std::optional<Response> Application::refuse(const Request& request, Admission& admission) const {
  const Router::Match& match = admission.match;
  const bool probe = match.route != nullptr && is_probe(*match.route);
  if (!probe && !request.header("host")) {
    return problem(400, "malformed", "the request has no Host header");
  }
  if (!probe && !access_.knows_host(request)) {
    return problem(421, "unknown_host", "this server is not called by that name; add it to http.hosts if it should be");
  }
  if (!access_.same_origin(request)) {
    return problem(403, "cross_origin", "requests from pages of other origins are refused");
  }
  if (match.route == nullptr) {
    if (match.allowed.empty()) return problem(404, "not_found", "there is nothing at " + request.path);
    return problem(405, "method_not_allowed", request.path + " takes " + joined(match.allowed, ", "))
        .with("Allow", joined(match.allowed, ", "));
  }
  if (match.route->body_limit > 0 && is_coded(request)) {
    return problem(415, "unsupported_coding", "send the body as it is, without Content-Encoding")
        .with("Accept-Encoding", "identity");
  }
  if (match.route->role == Role::anyone) return std::nullopt;
  auto caller = access_.caller(request);
  if (!caller) {
    return problem(401, "unauthorized", "a token is needed: send the header Authorization: Bearer …")
        .with("WWW-Authenticate", "Bearer realm=\"sluice\"");
  }
  if (caller->role < match.route->role) {
    return problem(403, "forbidden",
                   "this needs the role " + std::string{name(match.route->role)} + "; yours is " +
                       std::string{name(caller->role)});
  }
  admission.caller = *std::move(caller);
  return std::nullopt;
}

void Application::handle(Request request, Admission admission, Respond respond) const {
  const Route* route = admission.match.route;
  const double began = options_.seconds ? options_.seconds() : 0;
  const std::string_view pattern{route->pattern};
  const auto finish = [this, method = request.method, pattern, began, respond = std::move(respond)](Response response,
                                                                                                    const Request& of) {
    const double took = options_.seconds ? options_.seconds() - began : 0;
    if (options_.on_served) options_.on_served({method, pattern, response.status, took});
    respond(dress(std::move(response), of));
  };
  auto call =
      std::make_shared<Call>(Call{std::move(request), std::move(admission.caller), std::move(admission.match.path)});
  if (route->later) {
    // The request is needed for the answer's dress after the call was given away.
    Request head{call->request.method, call->request.path, {}, call->request.headers, {}, call->request.peer};
    return route->later(std::move(*call),
                        [finish, head = std::move(head)](Response response) { finish(std::move(response), head); });
  }
  const bool accepted = options_.elsewhere([route, call, finish] { finish(route->answer(*call), call->request); });
  if (!accepted) finish(problem(503, "busy", "too many requests are waiting; try again in a moment"), call->request);
}

Response Application::dress(Response response, const Request& request) const {
  if (!has_header(response, "X-Content-Type-Options")) response.with("X-Content-Type-Options", "nosniff");
  response.with("Referrer-Policy", "no-referrer");
  if (!has_header(response, "Content-Security-Policy")) {
    response.with("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
  }
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (reads && response.status == 200 && !response.stream && !response.body.empty()) {
    auto given = std::find_if(response.headers.begin(), response.headers.end(),
                              [](const auto& header) { return header.first == "ETag"; });
    const std::string etag = given != response.headers.end()
                                 ? given->second
                                 : '"' + crypto::to_hex(crypto::sha256(response.body)).substr(0, 32) + '"';
    if (given == response.headers.end()) response.with("ETag", etag);
    if (const auto known = request.header("if-none-match"); known && mentions(*known, etag)) {
      response.status = 304;
      response.body.clear();
    }
  }
  if (reads && is_compressible(response)) compress(response, request);
  if (!has_header(response, "Cache-Control")) response.with("Cache-Control", reads ? "no-cache" : "no-store");
  return response;
}

}  // namespace sluice::http
