#include <sluice/payload.hpp>

#include "core/contract.hpp"
#include "core/json.hpp"

namespace sluice {

std::string_view name(ShapeKind kind) {
  switch (kind) {
    case ShapeKind::any:
      return "";
    case ShapeKind::boolean:
      return "boolean";
    case ShapeKind::integer:
      return "integer";
    case ShapeKind::number:
      return "number";
    case ShapeKind::string:
      return "string";
    case ShapeKind::array:
      return "array";
    case ShapeKind::object:
      return "object";
  }
  return "";
}

std::string describe(const Shape& shape) {
  if (shape.kind == ShapeKind::any) return "any value";
  std::string out{name(shape.kind)};
  if (!shape.items.empty()) out += " of " + describe(shape.items.front());
  if (!shape.format.empty()) out += " (" + shape.format + ')';
  if (shape.nullable) out += " or null";
  return out;
}

namespace {

// One member per line, two spaces per level: a change of one field is a change of few lines in a diff.
class SchemaWriter {
 public:
  std::string document(std::string_view event_type, int event_version, const Shape& shape) {
    open('{');
    text("$schema", "http://json-schema.org/draft-07/schema#");
    text("title", event_type);
    text("x-event-type", event_type);
    raw("x-event-version", std::to_string(event_version));
    keywords(shape);
    close('}');
    return std::move(out_) + '\n';
  }

 private:
  void keywords(const Shape& shape) {
    if (!shape.description.empty()) text("description", shape.description);
    if (shape.kind != ShapeKind::any) {
      const std::string type = json::quote(name(shape.kind));
      raw("type", shape.nullable ? '[' + type + R"(, "null"])" : type);
    }
    if (!shape.format.empty()) text("format", shape.format);
    if (!shape.names.empty()) names(shape);
    if (!shape.items.empty()) {
      member("items");
      nested(shape.items.front());
    }
    if (shape.kind == ShapeKind::object) object(shape);
  }

  void object(const Shape& shape) {
    member("properties");
    open('{');
    std::string required;
    for (const ShapeProperty& property : shape.properties) {
      member(property.name);
      nested(property.shape);
      if (property.required) required += (required.empty() ? "" : ", ") + json::quote(property.name);
    }
    close('}');
    raw("required", '[' + required + ']');
    raw("additionalProperties", "true");
  }

  void names(const Shape& shape) {
    std::string listed;
    for (const std::string& one : shape.names) listed += (listed.empty() ? "" : ", ") + json::quote(one);
    raw("enum", '[' + listed + (shape.nullable ? ", null]" : "]"));
  }

  void nested(const Shape& shape) {
    open('{');
    keywords(shape);
    close('}');
  }

  void text(std::string_view keyword, std::string_view value) { raw(keyword, json::quote(value)); }
  void raw(std::string_view keyword, std::string_view json) {
    member(keyword);
    out_ += json;
  }
  void member(std::string_view keyword) {
    if (out_.back() != '{') out_ += ',';
    new_line();
    json::append_quoted(out_, keyword);
    out_ += ": ";
  }
  void open(char bracket) {
    out_ += bracket;
    ++level_;
  }
  void close(char bracket) {
    --level_;
    if (out_.back() != '{') new_line();
    out_ += bracket;
  }
  void new_line() { out_.append(1, '\n').append(2 * level_, ' '); }

  std::string out_;
  std::size_t level_ = 0;
};

}  // namespace

namespace detail {

std::string contract_file_name(std::string_view event_type, int event_version) {
  return std::string{event_type} + ".v" + std::to_string(event_version) + ".json";
}

std::string render_schema(std::string_view event_type, int event_version, const PayloadShape& shape) {
  return SchemaWriter{}.document(event_type, event_version, shape);
}

}  // namespace detail
}  // namespace sluice
