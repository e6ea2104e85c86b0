#include "core/contract.hpp"

#include <algorithm>
#include <charconv>

namespace sluice {
namespace {

const ShapeProperty* find(const Shape& shape, std::string_view name) {
  const auto found = std::find_if(shape.properties.begin(), shape.properties.end(),
                                  [&](const ShapeProperty& one) { return one.name == name; });
  return found == shape.properties.end() ? nullptr : &*found;
}

// Walks both shapes side by side and notes what changed.
class Comparison {
 public:
  explicit Comparison(const Contract& current) : current_(current) {}

  void value(const Shape& kept, const Shape& current, const std::string& path) {
    if (kept.kind != current.kind) {
      return breaking(path, "changed its type from " + describe(kept) + " to " + describe(current));
    }
    if (kept.format != current.format) {
      return breaking(path, "changed its format from " + format_of(kept) + " to " + format_of(current));
    }
    names(kept, current, path);
    if (!kept.items.empty()) element(kept.items.front(), current.items.front(), path + "[]");
    properties(kept, current, path);
  }

  void breaking(const std::string& path, const std::string& change) {
    changed_ = true;
    findings_.push_back({FindingSeverity::breaking, current_.event_type, current_.event_version, path,
                         path + ' ' + change,
                         "publish the new shape as the event type " + successor_type(current_.event_type) +
                             " and announce a deadline until which " + current_.event_type + " is still published"});
  }

  void unversioned() {
    findings_.push_back(
        {FindingSeverity::breaking, current_.event_type, current_.event_version, "event_version",
         "event_version is still " + std::to_string(current_.event_version) + " although the fields changed",
         "raise kEventVersion to " + std::to_string(current_.event_version + 1)});
  }

  [[nodiscard]] bool changed() const { return changed_; }
  std::vector<ContractFinding> take() { return std::move(findings_); }

 private:
  static std::string format_of(const Shape& shape) { return shape.format.empty() ? "none" : shape.format; }

  void note(const std::string& path, const std::string& change, std::string remedy) {
    changed_ = true;
    findings_.push_back({FindingSeverity::note, current_.event_type, current_.event_version, path, path + ' ' + change,
                         std::move(remedy)});
  }

  void names(const Shape& kept, const Shape& current, const std::string& path) {
    if (kept.names.empty() != current.names.empty()) {
      return breaking(path, kept.names.empty() ? "now takes only certain strings" : "now takes any string");
    }
    const auto missing_in = [](const Shape& shape, const std::string& wanted) {
      return std::find(shape.names.begin(), shape.names.end(), wanted) == shape.names.end();
    };
    for (const std::string& one : kept.names) {
      if (missing_in(current, one)) breaking(path, "lost the enum value " + one);
    }
    for (const std::string& one : current.names) {
      if (missing_in(kept, one)) {
        note(path, "gained the enum value " + one,
             "readers that know only the old values refuse it: deploy them first");
      }
    }
  }

  void element(const Shape& kept, const Shape& current, const std::string& path) {
    nullability(kept, current, path);
    value(kept, current, path);
  }

  void nullability(const Shape& kept, const Shape& current, const std::string& path) {
    if (kept.kind != current.kind || kept.nullable == current.nullable) return;
    breaking(path, current.nullable ? "may now be null" : "may no longer be null");
  }

  void properties(const Shape& kept, const Shape& current, const std::string& path) {
    for (const ShapeProperty& property : kept.properties) {
      const std::string here = path + '.' + property.name;
      const ShapeProperty* now = find(current, property.name);
      if (now == nullptr) {
        breaking(here, "was removed");
        continue;
      }
      if (property.required != now->required) {
        breaking(here, now->required ? "was optional and is now required: stored events may lack it"
                                     : "was required and is now optional: its readers rely on it");
      } else {
        nullability(property.shape, now->shape, here);
      }
      value(property.shape, now->shape, here);
    }
    for (const ShapeProperty& property : current.properties) added(kept, property, path);
  }

  void added(const Shape& kept, const ShapeProperty& property, const std::string& path) {
    if (find(kept, property.name) != nullptr) return;
    const std::string here = path + '.' + property.name;
    if (!property.required) {
      changed_ = true;
      return;
    }
    breaking(here, "is new and required: stored events lack it");
    findings_.back().remedy = "make it std::optional; if it must be there, " + findings_.back().remedy;
  }

  const Contract& current_;
  bool changed_ = false;
  std::vector<ContractFinding> findings_;
};

}  // namespace

std::string_view name(FindingSeverity severity) {
  switch (severity) {
    case FindingSeverity::breaking:
      return "breaking";
    case FindingSeverity::outdated:
      return "outdated";
    case FindingSeverity::note:
      return "note";
  }
  return "";
}

std::string successor_type(std::string_view event_type) {
  const std::size_t dot = event_type.rfind(".v");
  if (dot != std::string_view::npos) {
    int suffix = 0;
    const char* end = event_type.data() + event_type.size();
    const auto [stop, status] = std::from_chars(event_type.data() + dot + 2, end, suffix);
    if (status == std::errc{} && stop == end && suffix > 0 && suffix < 1'000'000) {
      return std::string{event_type.substr(0, dot)} + ".v" + std::to_string(suffix + 1);
    }
  }
  return std::string{event_type} + ".v2";
}

std::vector<ContractFinding> compare(const Contract& kept, const Contract& current) {
  Comparison comparison{current};
  if (current.event_version < kept.event_version) {
    comparison.breaking("event_version", "went back from " + std::to_string(kept.event_version) + " to " +
                                             std::to_string(current.event_version));
  }
  comparison.value(kept.shape, current.shape, "payload");
  if (comparison.changed() && current.event_version == kept.event_version) comparison.unversioned();
  return comparison.take();
}

bool has_breaking(const std::vector<ContractFinding>& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const ContractFinding& one) { return one.severity == FindingSeverity::breaking; });
}

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
