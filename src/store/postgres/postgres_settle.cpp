#include "store/postgres/postgres_settle.hpp"

#include <algorithm>

namespace sluice::store {
namespace {

using Element = pq::Params::Element;
using Items = std::vector<const SettleItem*>;

template <class Add>
void column(pq::Params& params, Element element, const Items& items, Add add) {
  pq::Params::Array array = params.array(element);
  for (const SettleItem* item : items) add(array, *item);
}

// One order for everybody, so that two settles never wait for each other in a circle.
Items in_order(std::span<const SettleItem> items) {
  Items all;
  all.reserve(items.size());
  for (const SettleItem& item : items) all.push_back(&item);
  std::sort(all.begin(), all.end(),
            [](const SettleItem* a, const SettleItem* b) { return a->claim.event_id < b->claim.event_id; });
  return all;
}

void add_batches(pq::Params& params, const SettleTerms& terms) {
  pq::Params::Array batches = params.array(Element::int8);
  for (const std::int64_t batch : terms.finished_batches) batches.int8(batch);
}

void add_delivered(pq::Params& params, const Items& delivered) {
  column(params, Element::tid, delivered, [](auto& a, const SettleItem& i) { a.tid(i.claim.locator); });
  column(params, Element::uuid, delivered, [](auto& a, const SettleItem& i) { a.uuid(i.claim.event_id); });
  column(params, Element::int8, delivered, [](auto& a, const SettleItem& i) { a.int8(i.claim.claim_seq); });
}

void add_undelivered(pq::Params& params, const Items& items) {
  column(params, Element::uuid, items, [](auto& a, const SettleItem& i) { a.uuid(i.claim.event_id); });
  column(params, Element::int8, items, [](auto& a, const SettleItem& i) { a.int8(i.claim.claim_seq); });
  column(params, Element::text, items, [](auto& a, const SettleItem& i) { a.text(name(i.settlement.next)); });
  column(params, Element::boolean, items, [](auto& a, const SettleItem& i) { a.boolean(i.settlement.counts_attempt); });
  column(params, Element::boolean, items, [](auto& a, const SettleItem& i) { a.boolean(i.settlement.records_error); });
  column(params, Element::interval, items, [](auto& a, const SettleItem& i) { a.interval(i.settlement.delay); });
  column(params, Element::timestamptz, items,
         [](auto& a, const SettleItem& i) { a.timestamptz(i.settlement.not_before); });
  column(params, Element::text, items,
         [](auto& a, const SettleItem& i) { a.text(std::string_view{i.settlement.last_error}); });
  column(params, Element::text, items,
         [](auto& a, const SettleItem& i) { a.text(std::string_view{i.settlement.error_class}); });
  column(params, Element::text, items,
         [](auto& a, const SettleItem& i) { a.text(std::string_view{i.settlement.fingerprint}); });
  column(params, Element::jsonb, items,
         [](auto& a, const SettleItem& i) { a.jsonb_or_null(progress_to_json(i.settlement.progress)); });
  column(params, Element::text, items,
         [](auto& a, const SettleItem& i) { a.text(std::string_view{i.settlement.lane}); });
}

void add_handled(pq::Params& params, const Items& items) {
  const auto each = [&](Element element, auto add) {
    column(params, element, items, [&](auto& array, const SettleItem& item) {
      for (const std::string& handler : item.handled_by) add(array, item, handler);
    });
  };
  each(Element::text,
       [](auto& a, const SettleItem&, const std::string& handler) { a.text(std::string_view{handler}); });
  each(Element::text,
       [](auto& a, const SettleItem& i, const std::string&) { a.text(std::string_view{i.idempotency_key}); });
  each(Element::uuid, [](auto& a, const SettleItem& i, const std::string&) { a.uuid(i.claim.event_id); });
}

bool only_acknowledges(std::span<const SettleItem> items) {
  return std::all_of(items.begin(), items.end(), [](const SettleItem& item) {
    return item.settlement.next == Status::delivered && item.handled_by.empty();
  });
}

pq::Params acknowledge_params(std::span<const SettleItem> items, const SettleTerms& terms) {
  pq::Params params;
  add_delivered(params, in_order(items));
  add_batches(params, terms);
  params.int8(terms.based_on).boolean(terms.durable);
  return params;
}

pq::Params settle_params(std::span<const SettleItem> items, const SettleTerms& terms) {
  const Items all = in_order(items);
  Items delivered;
  Items undelivered;
  for (const SettleItem* item : all)
    (item->settlement.next == Status::delivered ? delivered : undelivered).push_back(item);

  pq::Params params;
  add_delivered(params, delivered);
  add_batches(params, terms);
  add_undelivered(params, undelivered);
  add_handled(params, all);
  params.int8(terms.based_on).boolean(terms.durable);
  return params;
}

}  // namespace

SettleCommand settle_command(std::span<const SettleItem> items, const SettleTerms& terms) {
  if (only_acknowledges(items)) return {pg_sql::acknowledge, acknowledge_params(items, terms)};
  return {pg_sql::settle, settle_params(items, terms)};
}

SettleReport settle_report(std::span<const SettleItem> items, const pq::Rows& fenced) {
  SettleReport report;
  report.fenced = pq::collect(fenced, [&](int row) { return fenced.uuid(row, 0); });
  report.settled = static_cast<int>(items.size() - report.fenced.size());
  return report;
}

}  // namespace sluice::store
