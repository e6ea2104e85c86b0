#include "http/media_type.hpp"

#include "http/lower_case.hpp"

namespace sluice::http {

std::string media_type(const Request& request) {
  std::string type;
  for (const char c : request.header("content-type").value_or("")) {
    if (c == ';') break;
    if (c != ' ' && c != '\t') type += lower_case(c);
  }
  return type;
}

}  // namespace sluice::http
