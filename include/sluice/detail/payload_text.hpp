// Payload text, value by value: the part of <sluice/payload.hpp> that does not depend on a struct.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/result.hpp>
#include <sluice/time.hpp>
#include <sluice/uuid.hpp>

namespace sluice {
struct RawJson;
}  // namespace sluice

namespace sluice::detail {

/// Where a value is: `payload.items[2].price`. A chain on the stack; text is made only for an error.
struct PayloadPath {
  const PayloadPath* parent = nullptr;
  std::string_view name;    ///< of a member
  std::size_t element = 0;  ///< of an array, where there is no name
  [[nodiscard]] std::string text() const;
};

struct PayloadMember {
  std::string name;
  std::string_view json;
};

using PayloadObject = std::vector<PayloadMember>;

Error payload_missing(const PayloadPath& path, const std::string& expected);
/// `payload.n must be a number, not a string`; `expected` starts with an article.
Error payload_mistyped(const PayloadPath& path, const std::string& expected, std::string_view json);

Result<PayloadObject> payload_object(std::string_view json, const PayloadPath& path);
Result<std::vector<std::string_view>> payload_array(std::string_view json, const PayloadPath& path);
/// `one of the strings low, high`
std::string one_of(const std::vector<std::string_view>& names);
/// The index of the string within `names`.
Result<std::size_t> payload_choice(std::string_view json, const PayloadPath& path,
                                   const std::vector<std::string_view>& names);
/// Checks the whole text once, so that the readers below only meet well-formed JSON.
Result<void> check_payload_text(std::string_view json);

struct IntegerRange {
  std::int64_t least = 0;
  std::int64_t most = 0;
};
Result<std::int64_t> read_integer(std::string_view json, const PayloadPath& path, IntegerRange range);
Result<void> read_scalar(std::string_view json, const PayloadPath& path, bool& into);
Result<void> read_scalar(std::string_view json, const PayloadPath& path, double& into);
Result<void> read_scalar(std::string_view json, const PayloadPath& path, std::string& into);
Result<void> read_scalar(std::string_view json, const PayloadPath& path, Uuid& into);
Result<void> read_scalar(std::string_view json, const PayloadPath& path, Timestamp& into);
Result<void> read_scalar(std::string_view json, const PayloadPath& path, RawJson& into);

void append_name(std::string& out, std::size_t object_begin, std::string_view name);
void append_integer(std::string& out, std::int64_t value);
void append_scalar(std::string& out, bool value);
void append_scalar(std::string& out, double value);
void append_scalar(std::string& out, std::string_view value);
void append_scalar(std::string& out, const Uuid& value);
void append_scalar(std::string& out, Timestamp value);
void append_scalar(std::string& out, const RawJson& value);
/// For a value that has no JSON form: no reader accepts it, so such a payload is never published.
void append_unwritable(std::string& out);

}  // namespace sluice::detail
