// Typed payloads: a struct says what an event carries, and JSON both ways and its JSON Schema follow.
//
//   struct ScanCompleted {
//     static constexpr std::string_view kEventType = "platform.scan.completed";
//     static constexpr int kEventVersion = 1;  // raised when the fields change
//     sluice::Uuid scan_id;
//     std::optional<std::string> note;
//     static constexpr auto fields() {
//       return std::tuple{sluice::field("scan_id", &ScanCompleted::scan_id, "the scan that ended"),
//                         sluice::field("note", &ScanCompleted::note)};
//     }
//   };
//
// A member is bool, int, long, long long, double, std::string, Uuid, Timestamp, RawJson, an enum with
// `payload_names`, a struct with `fields()`, or std::optional or std::vector of one of these. A struct
// or event may carry `static constexpr std::string_view kDescription`. A struct that contains itself
// has no schema and does not compile.
//
// Fields are only ever added, and only optional ones: see docs/reference/contracts.md.
//
// Thread-safety: pure functions over values.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <tuple>

#include <sluice/envelope.hpp>
#include <sluice/handler.hpp>
#include <sluice/result.hpp>
#include <sluice/time.hpp>
#include <sluice/uuid.hpp>

namespace sluice {

template <class Owner, class Member>
struct Field {
  std::string_view name;
  Member Owner::*member;
  std::string_view description;
};

/// One entry of `fields()`.
template <class Owner, class Member>
constexpr Field<Owner, Member> field(std::string_view name, Member Owner::*member, std::string_view description = {}) {
  return {name, member, description};
}

/// One JSON value as text, verbatim both ways: numbers of any size survive.
struct RawJson {
  std::string text = "null";
  bool operator==(const RawJson&) const = default;
};

/// One entry of an enum's name table, which stands beside the enum:
///   constexpr auto payload_names(Severity) {
///     return std::array{sluice::EnumName{Severity::low, "low"}, sluice::EnumName{Severity::high, "high"}};
///   }
template <class E>
struct EnumName {
  E value;
  std::string_view name;
};
template <class E>
EnumName(E, const char*) -> EnumName<E>;

template <class T>
concept PayloadStruct = std::default_initializable<T> && requires {
  T::fields();
};

template <class T>
concept EventPayload = PayloadStruct<T> && requires {
  { T::kEventType } -> std::convertible_to<std::string_view>;
  { T::kEventVersion } -> std::convertible_to<int>;
};

/// A schema as a file: `<event type>.v<version>.json`.
struct ContractFile {
  std::string file_name;
  std::string text;
};

/// The struct as one line of JSON, in the order of `fields()`; an empty optional is left out. Bytes
/// of a string that are not UTF-8 become U+FFFD. A value that has no JSON form (a double that is not
/// finite, an enum value without a name, RawJson that is not one value, a year beyond 9999) makes the
/// text invalid, so that EventEnvelope::make refuses it and nobody publishes it.
template <PayloadStruct T>
std::string to_payload(const T& value);

/// Unknown members are ignored; an optional one may be absent or null. The first field that is
/// missing, mistyped or out of range is an error of code `invalid`: `field` is its path, such as
/// `payload.items[2].price`, and the message says what was expected, never what the payload holds.
template <PayloadStruct T>
Result<T> from_payload(std::string_view json);

/// JSON Schema draft 7, indented, with a final line break.
template <EventPayload T>
std::string payload_schema();

/// For the program that writes a build's schemas where `sluice contract` reads them.
template <EventPayload T>
ContractFile contract_file();

/// Sets event_type, event_version and payload.
template <EventPayload T>
void set_payload(EnvelopeDraft& draft, const T& value);

/// from_payload of an envelope of exactly this type. Any version is read: fields are only added.
template <EventPayload T>
Result<T> read_payload(const EventEnvelope& envelope);

/// The same for handlers: throws PayloadError, which fails the event at once and names the field.
template <EventPayload T>
T payload_of(const EventEnvelope& envelope) {
  Result<T> read = read_payload<T>(envelope);
  if (!read) throw PayloadError{read.error().message};
  return *std::move(read);
}

}  // namespace sluice

#include <sluice/detail/payload_codec.hpp>  // IWYU pragma: export
