// 04: a typed payload. A struct says what the event carries; JSON both ways and a JSON Schema follow.
//
// Prints:
//   {
//     "$schema": "http://json-schema.org/draft-07/schema#",
//     "title": "shop.parcel.shipped",
//     "x-event-type": "shop.parcel.shipped",
//     "x-event-version": 1,
//     "type": "object",
//     "properties": {
//       "parcel": {
//         "type": "string"
//       },
//       "grams": {
//         "description": "with its wrapping",
//         "type": "integer",
//         "format": "int64"
//       },
//       "note": {
//         "type": ["string", "null"]
//       }
//     },
//     "required": ["parcel", "grams"],
//     "additionalProperties": true
//   }
//   parcel A7 weighs 1200 g
//   refused: payload.grams must be a whole number, not a string
//   delivered 1, failed 1
#include <cstdint>
#include <optional>
#include <tuple>

#include <sluice/payload.hpp>
#include <sluice/publisher.hpp>
#include "example.hpp"

namespace {

// region: payload
struct ParcelShipped {
  static constexpr std::string_view kEventType = "shop.parcel.shipped";
  static constexpr int kEventVersion = 1;

  std::string parcel;
  std::int64_t grams = 0;
  std::optional<std::string> note;

  static constexpr auto fields() {
    return std::tuple{sluice::field("parcel", &ParcelShipped::parcel),
                      sluice::field("grams", &ParcelShipped::grams, "with its wrapping"),
                      sluice::field("note", &ParcelShipped::note)};
  }
};
// end region

example::Progress finished;

// region: handler
void weigh(const sluice::EventEnvelope& event) {
  const auto shipped = sluice::read_payload<ParcelShipped>(event);
  if (!shipped) {
    std::cout << "refused: " << shipped.error().message << '\n';
    finished.add();
    throw sluice::PayloadError{shipped.error().message};
  }
  std::cout << "parcel " << shipped->parcel << " weighs " << shipped->grams << " g\n";
  finished.add();
}
// end region

}  // namespace

int main() {
  const example::Store store;
  std::cout << sluice::payload_schema<ParcelShipped>();

  auto publisher = example::required(sluice::EventPublisher::open({.store = store.address()}));
  // region: publish
  sluice::EnvelopeDraft draft = publisher.draft();
  draft.source = "shop";
  sluice::set_payload(draft, ParcelShipped{.parcel = "A7", .grams = 1200});
  example::required(publisher.publish(example::required(sluice::EventEnvelope::make(draft))));
  // end region

  auto listener = example::required(sluice::EventListener::open({.store = store.address()}));
  example::required(listener.listen({.handler_name = "scales.weigher", .events = {"shop.parcel.shipped"}}, weigh));
  example::required(listener.start());
  finished.await(1);

  // Somebody who writes JSON by hand. No retry would help, so the event fails at once.
  sluice::EnvelopeDraft by_hand = publisher.draft();
  by_hand.source = "shop";
  by_hand.event_type = "shop.parcel.shipped";
  by_hand.payload = R"({"parcel":"B8","grams":"heavy"})";
  example::required(publisher.publish(example::required(sluice::EventEnvelope::make(by_hand))));
  finished.await(2);
  listener.stop();

  const sluice::ListenerStatus status = listener.status();
  std::cout << "delivered " << status.delivered << ", failed " << status.failed << '\n';
  return status.delivered == 1 && status.failed == 1 ? 0 : 1;
}
