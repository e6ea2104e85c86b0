#include "http/media_type.hpp"

#include <cctype>

namespace sluice::http {

std::string media_type(const Request& request) {
  std::string type;
  for (const char c : request.header("content-type").value_or("")) {
    if (c == ';') break;
    if (c != ' ' && c != '\t') type += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return type;
}

}  // namespace sluice::http
