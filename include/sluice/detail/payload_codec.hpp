// How the members of a payload struct become JSON, come back, and describe themselves. No interface of
// its own: include <sluice/payload.hpp>.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <sluice/detail/payload_shape.hpp>
#include <sluice/detail/payload_text.hpp>
#include <sluice/payload.hpp>

namespace sluice {

namespace detail {

template <class X>
inline constexpr bool is_optional = false;
template <class X>
inline constexpr bool is_optional<std::optional<X>> = true;

template <class T>
struct Codec {
  static_assert(PayloadStruct<T>,
                "a payload member must be one of the types that sluice/payload.hpp lists, or a struct with fields()");

  static std::string expected() { return "an object"; }

  static void write(std::string& out, const T& value) {
    const std::size_t begin = out.size();
    std::apply([&](const auto&... field) { (write_member(out, begin, value, field), ...); }, T::fields());
    out += out.size() == begin ? "{}" : "}";
  }

  static Result<void> read(std::string_view json, const PayloadPath& path, T& into) {
    const auto object = payload_object(json, path);
    if (!object) return object.error();
    Result<void> outcome;
    const auto read_one = [&](const auto& field) {
      outcome = read_member(*object, path, field, into);
      return outcome.has_value();
    };
    std::apply([&](const auto&... field) { static_cast<void>((read_one(field) && ...)); }, T::fields());
    return outcome;
  }

  template <class... Enclosing>
  static PayloadShape shape() {
    static_assert(!(std::is_same_v<T, Enclosing> || ...), "a payload struct must not contain itself");
    static_assert(names_are_distinct(), "two fields of a payload struct have the same name");
    PayloadShape shape{PayloadShape::Kind::object};
    if constexpr (requires { T::kDescription; }) shape.description = T::kDescription;
    std::apply([&](const auto&... field) { (shape.properties.push_back(property<Enclosing...>(field)), ...); },
               T::fields());
    return shape;
  }

 private:
  template <class Owner, class X>
  static void write_member(std::string& out, std::size_t begin, const T& value, const Field<Owner, X>& field) {
    const X& member = value.*field.member;
    if constexpr (is_optional<X>) {
      if (!member) return;
    }
    append_name(out, begin, field.name);
    Codec<X>::write(out, member);
  }

  template <class Owner, class X>
  static Result<void> read_member(const PayloadObject& object, const PayloadPath& path, const Field<Owner, X>& field,
                                  T& into) {
    const PayloadPath here{&path, field.name};
    const auto found =
        std::find_if(object.begin(), object.end(), [&](const auto& one) { return one.name == field.name; });
    if (found != object.end()) return Codec<X>::read(found->json, here, into.*field.member);
    if constexpr (is_optional<X>) {
      (into.*field.member).reset();
      return {};
    } else {
      return payload_missing(here, Codec<X>::expected());
    }
  }

  template <class... Enclosing, class Owner, class X>
  static ShapeProperty property(const Field<Owner, X>& field) {
    ShapeProperty property{std::string{field.name}, Codec<X>::template shape<T, Enclosing...>(), !is_optional<X>};
    if (!field.description.empty()) property.shape.description = field.description;
    return property;
  }

  static consteval bool names_are_distinct() {
    return std::apply(
        [](const auto&... field) {
          std::array<std::string_view, sizeof...(field)> names{field.name...};
          std::sort(names.begin(), names.end());
          return std::adjacent_find(names.begin(), names.end()) == names.end();
        },
        T::fields());
  }
};

struct ScalarWords {
  PayloadShape::Kind kind = PayloadShape::Kind::any;
  std::string_view format{};
  std::string_view expected{};  ///< empty: not a scalar
};
template <class X>
inline constexpr ScalarWords kScalar{};
template <>
inline constexpr ScalarWords kScalar<bool>{PayloadShape::Kind::boolean, "", "true or false"};
template <>
inline constexpr ScalarWords kScalar<double>{PayloadShape::Kind::number, "", "a number"};
template <>
inline constexpr ScalarWords kScalar<std::string>{PayloadShape::Kind::string, "", "a string"};
template <>
inline constexpr ScalarWords kScalar<Uuid>{PayloadShape::Kind::string, "uuid", "a uuid"};
template <>
inline constexpr ScalarWords kScalar<Timestamp>{PayloadShape::Kind::string, "date-time", "a point in time"};
template <>
inline constexpr ScalarWords kScalar<RawJson>{PayloadShape::Kind::any, "", "a JSON value"};

template <class X>
requires(!kScalar<X>.expected.empty()) struct Codec<X> {
  static std::string expected() { return std::string{kScalar<X>.expected}; }
  static void write(std::string& out, const X& value) { append_scalar(out, value); }
  static Result<void> read(std::string_view json, const PayloadPath& path, X& into) {
    return read_scalar(json, path, into);
  }
  template <class...>
  static PayloadShape shape() {
    return {kScalar<X>.kind, std::string{kScalar<X>.format}};
  }
};

template <class I>
requires std::same_as<I, int> || std::same_as<I, long> || std::same_as<I, long long>
struct Codec<I> {
  static std::string expected() { return "a whole number"; }
  static void write(std::string& out, I value) { append_integer(out, value); }
  static Result<void> read(std::string_view json, const PayloadPath& path, I& into) {
    const auto value = read_integer(json, path, {std::numeric_limits<I>::min(), std::numeric_limits<I>::max()});
    if (!value) return value.error();
    into = static_cast<I>(*value);
    return {};
  }
  template <class...>
  static PayloadShape shape() {
    return {PayloadShape::Kind::integer, sizeof(I) == sizeof(std::int32_t) ? "int32" : "int64"};
  }
};

template <class E>
requires std::is_enum_v<E>
struct Codec<E> {
  static constexpr auto kNames = payload_names(E{});
  static std::vector<std::string_view> names() {
    std::vector<std::string_view> all;
    for (const auto& entry : kNames) all.push_back(entry.name);
    return all;
  }
  static std::string expected() { return one_of(names()); }
  static void write(std::string& out, E value) {
    const auto found =
        std::find_if(kNames.begin(), kNames.end(), [&](const auto& entry) { return entry.value == value; });
    found == kNames.end() ? append_unwritable(out) : append_scalar(out, found->name);
  }
  static Result<void> read(std::string_view json, const PayloadPath& path, E& into) {
    const auto which = payload_choice(json, path, names());
    if (!which) return which.error();
    into = kNames[*which].value;
    return {};
  }
  template <class...>
  static PayloadShape shape() {
    PayloadShape shape{PayloadShape::Kind::string};
    for (const auto& entry : kNames) shape.names.emplace_back(entry.name);
    return shape;
  }
};

template <class X>
struct Codec<std::optional<X>> {
  static std::string expected() { return Codec<X>::expected(); }
  static void write(std::string& out, const std::optional<X>& value) {
    value ? Codec<X>::write(out, *value) : static_cast<void>(out += "null");
  }
  static Result<void> read(std::string_view json, const PayloadPath& path, std::optional<X>& into) {
    if (json == "null") {
      into.reset();
      return {};
    }
    // Not emplaced: g++ 12 would warn the user of a member that may be uninitialized.
    X value{};
    auto done = Codec<X>::read(json, path, value);
    if (done) into = std::move(value);
    return done;
  }
  template <class... Enclosing>
  static PayloadShape shape() {
    PayloadShape shape = Codec<X>::template shape<Enclosing...>();
    shape.nullable = shape.kind != PayloadShape::Kind::any;
    return shape;
  }
};

template <class X>
struct Codec<std::vector<X>> {
  static std::string expected() { return "an array"; }
  static void write(std::string& out, const std::vector<X>& values) {
    out += '[';
    for (std::size_t at = 0; at < values.size(); ++at) {
      if (at > 0) out += ',';
      Codec<X>::write(out, values[at]);
    }
    out += ']';
  }
  static Result<void> read(std::string_view json, const PayloadPath& path, std::vector<X>& into) {
    const auto elements = payload_array(json, path);
    if (!elements) return elements.error();
    into.clear();
    for (std::size_t at = 0; at < elements->size(); ++at) {
      X element{};
      auto outcome = Codec<X>::read((*elements)[at], PayloadPath{&path, {}, at}, element);
      if (!outcome) return outcome;
      into.push_back(std::move(element));
    }
    return {};
  }
  template <class... Enclosing>
  static PayloadShape shape() {
    PayloadShape shape{PayloadShape::Kind::array};
    shape.items.push_back(Codec<X>::template shape<Enclosing...>());
    return shape;
  }
};

}  // namespace detail

template <PayloadStruct T>
std::string to_payload(const T& value) {
  std::string out;
  detail::Codec<T>::write(out, value);
  return out;
}

template <PayloadStruct T>
Result<T> from_payload(std::string_view json) {
  if (auto checked = detail::check_payload_text(json); !checked) return std::move(checked).error();
  T value{};
  auto outcome = detail::Codec<T>::read(json, detail::PayloadPath{nullptr, "payload"}, value);
  if (!outcome) return std::move(outcome).error();
  return value;
}

template <EventPayload T>
std::string payload_schema() {
  static_assert(T::kEventVersion >= 1, "kEventVersion starts at 1");
  return detail::render_schema(T::kEventType, T::kEventVersion, detail::Codec<T>::template shape<>());
}

template <EventPayload T>
ContractFile contract_file() {
  return {detail::contract_file_name(T::kEventType, T::kEventVersion), payload_schema<T>()};
}

template <EventPayload T>
void set_payload(EnvelopeDraft& draft, const T& value) {
  draft.event_type = T::kEventType;
  draft.event_version = T::kEventVersion;
  draft.payload = to_payload(value);
}

template <EventPayload T>
Result<T> read_payload(const EventEnvelope& envelope) {
  if (envelope.event_type() != T::kEventType) {
    return invalid("event_type", "event_type must be " + std::string{T::kEventType} + " to be read as such, not " +
                                     envelope.event_type());
  }
  return from_payload<T>(envelope.payload());
}

}  // namespace sluice
