#include "http/routes_console.hpp"

#include <algorithm>
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

Response answer(const std::string& path, const std::string& prefix) {
  if (const Asset* asset = find(path)) return send(*asset, prefix);
  const std::string_view name = std::string_view{path}.substr(path.rfind('/') + 1);
  const bool page = name.find('.') == std::string_view::npos && !path.starts_with("v1/") && path != "v1";
  const Asset* start = page ? find(kStartPage) : nullptr;
  return start != nullptr ? send(*start, prefix) : problem(404, "not_found", "there is nothing at /" + path);
}

}  // namespace

std::vector<Route> console_routes(const std::string& prefix) {
  return {{"GET",
           "/{rest...}",
           Role::anyone,
           0,
           [prefix](const Call& call) { return answer(call.path.at("rest"), prefix); },
           {}}};
}

}  // namespace sluice::http
