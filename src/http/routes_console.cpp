#include "http/routes.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "http/console_assets.hpp"

namespace sluice::http {
namespace {

constexpr std::string_view kStartPage = "index.html";
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'";

const Asset* find(std::string_view path) {
  const auto assets = console_assets();
  const auto found = std::find_if(assets.begin(), assets.end(), [&](const Asset& one) { return one.path == path; });
  return found == assets.end() ? nullptr : &*found;
}

// Relative addresses count from here, whatever page was opened and wherever a proxy has put the server.
std::string with_base(std::string page, const std::string& prefix) {
  constexpr std::string_view kBase = "<base href=\"/\"";
  if (const std::size_t at = page.find(kBase); at != std::string::npos) {
    page.replace(at, kBase.size(), "<base href=\"" + prefix + "/\"");
  }
  return page;
}

Response send(const Asset& asset, const std::string& prefix) {
  Response response{200, {}, std::string{asset.body}, {}};
  response.with("Content-Type", std::string{asset.type}).with("Content-Security-Policy", std::string{kPolicy});
  if (asset.path == kStartPage) {
    response.body = with_base(std::move(response.body), prefix);
    return response;
  }
  if (!asset.encoding.empty()) response.with("Content-Encoding", std::string{asset.encoding});
  response.with("ETag", std::string{asset.etag});
  // The names of built files carry the digest of what is in them.
  if (asset.path.starts_with("assets/")) response.with("Cache-Control", "public, max-age=31536000, immutable");
  return response;
}

// The screens; below some of them there is one for each thing. console/src/screens/Screen.svelte has the same list.
constexpr std::array<std::string_view, 14> kPages{"/",
                                                  "/wall",
                                                  "/dlq",
                                                  "/dlq/items",
                                                  "/dlq/groups/{fingerprint}",
                                                  "/operations",
                                                  "/operations/{id}",
                                                  "/events",
                                                  "/events/{id}",
                                                  "/generations",
                                                  "/workers",
                                                  "/sinks",
                                                  "/storage",
                                                  "/audit"};

// Whoever typed an address wrongly sees the console say so; a program gets a problem.
Response nothing_at(const Call& call, const std::string& prefix) {
  const Asset* start = find(kStartPage);
  const bool reader = call.request.header("accept").value_or("").find("text/html") != std::string_view::npos;
  if (start == nullptr || !reader || call.request.path.starts_with("/v1/")) {
    return problem(404, "not_found", "there is nothing at " + call.request.path);
  }
  Response response = send(*start, prefix);
  response.status = 404;
  return response;
}

Route page(std::string pattern, Answer answer) {
  return {"GET", std::move(pattern), Role::anyone, 0, std::move(answer), {}};
}

}  // namespace

std::vector<Route> console_routes(const std::string& prefix) {
  const Answer start = [prefix](const Call& call) {
    const Asset* asset = find(kStartPage);
    return asset != nullptr ? send(*asset, prefix) : nothing_at(call, prefix);
  };
  std::vector<Route> routes;
  for (const std::string_view pattern : kPages) routes.push_back(page(std::string{pattern}, start));
  for (const Asset& asset : console_assets()) {
    routes.push_back(
        page('/' + std::string{asset.path}, [&asset, prefix](const Call&) { return send(asset, prefix); }));
  }
  routes.push_back(page("/{rest...}", [prefix](const Call& call) { return nothing_at(call, prefix); }));
  return routes;
}

}  // namespace sluice::http
