#include <algorithm>

#include "core/contract_change.hpp"

namespace sluice {
namespace {

// Asks of every value that the producer may send: can the consumer read it?
class Reading {
 public:
  explicit Reading(const Contract& consumer) : consumer_(consumer) {}

  void value(const Shape& sent, const Shape& read, const std::string& path) {
    if (read.kind == ShapeKind::any) return;
    if (!reads(sent, read)) {
      return breaking(path, "is read as " + describe(read) + ", but is published as " + describe(sent));
    }
    if (sent.nullable && !read.nullable) return breaking(path, "may be null, which the consumer does not read");
    names(sent, read, path);
    if (read.kind == ShapeKind::array) value(sent.items.front(), read.items.front(), path + "[]");
    for (const ShapeProperty& property : read.properties) member(sent, property, path + '.' + property.name);
  }

  std::vector<ContractFinding> take() { return std::move(findings_); }

 private:
  // Wider is fine: a number reads integers, an int64 an int32, a plain string any format.
  static bool reads(const Shape& sent, const Shape& read) {
    if (read.kind == ShapeKind::number) return sent.kind == ShapeKind::number || sent.kind == ShapeKind::integer;
    if (sent.kind != read.kind) return false;
    if (read.kind == ShapeKind::integer) return read.format != "int32" || sent.format == "int32";
    return read.format.empty() || read.format == sent.format;
  }

  void names(const Shape& sent, const Shape& read, const std::string& path) {
    if (read.names.empty()) return;
    if (sent.names.empty()) return breaking(path, "may be any string, but the consumer reads only certain ones");
    for (const std::string& one : sent.names) {
      const bool known = std::find(read.names.begin(), read.names.end(), one) != read.names.end();
      if (!known) breaking(path, "may have the enum value " + one + ", which the consumer does not know");
    }
  }

  void member(const Shape& sent, const ShapeProperty& property, const std::string& path) {
    const auto found = std::find_if(sent.properties.begin(), sent.properties.end(),
                                    [&](const ShapeProperty& one) { return one.name == property.name; });
    if (found == sent.properties.end()) {
      if (property.required) return breaking(path, "is required by the consumer, but the producer does not publish it");
      return add(FindingSeverity::note, path, "is read if it is there, but the producer does not publish it",
                 "remove it from the consumer, or add it to the producer");
    }
    if (property.required && !found->required) {
      return breaking(path, "is required by the consumer, but the producer may leave it out");
    }
    value(found->shape, property.shape, path);
  }

  void breaking(const std::string& path, const std::string& problem) {
    add(FindingSeverity::breaking, path, problem,
        "let the consumer read what is published: the producer cannot change " + consumer_.event_type +
            ", only publish " + successor_type(consumer_.event_type) + " beside it");
  }

  void add(FindingSeverity severity, const std::string& path, const std::string& problem, std::string remedy) {
    findings_.push_back(
        {severity, consumer_.event_type, consumer_.event_version, path, path + ' ' + problem, std::move(remedy)});
  }

  const Contract& consumer_;
  std::vector<ContractFinding> findings_;
};

}  // namespace

std::vector<ContractFinding> cross_check(const Contract& producer, const Contract& consumer) {
  Reading reading{consumer};
  reading.value(producer.shape, consumer.shape, "payload");
  return reading.take();
}

}  // namespace sluice
