// Payload structs for tests: between them every kind of member.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <sluice/payload.hpp>

namespace sluice::test {

enum class Severity { low, high, unnamed };
constexpr auto payload_names(Severity) {
  return std::array{EnumName{Severity::low, "low"}, EnumName{Severity::high, "high"}};
}

struct Item {
  static constexpr std::string_view kDescription = "one line of the order";
  std::string sku;
  double price = 0;
  std::optional<std::int32_t> count;
  bool operator==(const Item&) const = default;
  static constexpr auto fields() {
    return std::tuple{field("sku", &Item::sku), field("price", &Item::price, "per piece"),
                      field("count", &Item::count)};
  }
};

struct OrderPlaced {
  static constexpr std::string_view kEventType = "shop.order.placed";
  static constexpr int kEventVersion = 3;
  static constexpr std::string_view kDescription = "A customer placed an order";
  Uuid order_id;
  Timestamp placed_at{};
  bool express = false;
  std::int32_t lines = 0;
  std::int64_t serial = 0;
  Severity severity = Severity::low;
  std::vector<Item> items;
  std::optional<std::string> note;
  std::vector<std::optional<bool>> answers;
  RawJson total;
  std::optional<RawJson> extra;
  bool operator==(const OrderPlaced&) const = default;
  static constexpr auto fields() {
    return std::tuple{field("order_id", &OrderPlaced::order_id, "the order"),
                      field("placed_at", &OrderPlaced::placed_at),
                      field("express", &OrderPlaced::express),
                      field("lines", &OrderPlaced::lines),
                      field("serial", &OrderPlaced::serial),
                      field("severity", &OrderPlaced::severity),
                      field("items", &OrderPlaced::items),
                      field("note", &OrderPlaced::note),
                      field("answers", &OrderPlaced::answers),
                      field("total", &OrderPlaced::total),
                      field("extra", &OrderPlaced::extra)};
  }
};

inline OrderPlaced an_order() {
  OrderPlaced order;
  order.order_id = *Uuid::parse("01890a5d-ac96-774b-bcce-b302099a8057");
  order.placed_at = *parse_iso8601("2026-04-25T01:43:02.25Z");
  order.express = true;
  order.lines = -2'147'483'648;
  order.serial = 9'223'372'036'854'775'807;
  order.severity = Severity::high;
  order.items = {{"a\"b", 0.1, 2}, {"Grüße 🌍", 1e300, std::nullopt}};
  order.note = "line\nbreak";
  order.answers = {true, std::nullopt, false};
  order.total.text = "12345678901234567890123456789.000001";
  return order;
}

inline constexpr std::string_view kOrderJson =
    R"({"order_id":"01890a5d-ac96-774b-bcce-b302099a8057","placed_at":"2026-04-25T01:43:02.250000Z","express":true,)"
    R"("lines":-2147483648,"serial":9223372036854775807,"severity":"high",)"
    R"("items":[{"sku":"a\"b","price":0.1,"count":2},{"sku":"Grüße 🌍","price":1e+300}],"note":"line\nbreak",)"
    R"("answers":[true,null,false],"total":12345678901234567890123456789.000001})";

}  // namespace sluice::test
