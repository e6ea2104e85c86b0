#include "store/postgres/pq_values.hpp"

#include <libpq-fe.h>

#include <bit>
#include <cstring>
#include <limits>

namespace sluice::store::pq {
namespace {

// timestamptz counts microseconds from 2000-01-01.
constexpr std::int64_t kEpochShiftUs = 946'684'800LL * 1'000'000;
// In place of a value: infinity and -infinity, which PostgreSQL sorts last and first.
constexpr std::int64_t kPlusInfinity = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMinusInfinity = std::numeric_limits<std::int64_t>::min();

template <class T>
T big_endian(T value) {
  static_assert(std::endian::native == std::endian::little, "binary formats assume a little-endian host");
  auto bytes = std::bit_cast<std::array<std::uint8_t, sizeof(T)>>(value);
  for (std::size_t i = 0; i < sizeof(T) / 2; ++i) std::swap(bytes[i], bytes[sizeof(T) - 1 - i]);
  return std::bit_cast<T>(bytes);
}

template <class T>
T read_big_endian(std::string_view bytes) {
  assert(bytes.size() >= sizeof(T));
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return big_endian(value);
}

std::int64_t to_pg(Timestamp at) { return at.time_since_epoch().count() - kEpochShiftUs; }

}  // namespace

void Params::begin() { slots_.push_back({buffer_.size(), false}); }

void Params::put(const void* bytes, std::size_t size) { buffer_.append(static_cast<const char*>(bytes), size); }

template <class T>
void Params::put_big_endian(T value) {
  const T swapped = big_endian(value);
  put(&swapped, sizeof swapped);
}

Params& Params::null() {
  slots_.push_back({buffer_.size(), true});
  return *this;
}

Params& Params::boolean(bool value) {
  begin();
  buffer_.push_back(value ? '\1' : '\0');
  return *this;
}

Params& Params::int4(std::int32_t value) {
  begin();
  put_big_endian(value);
  return *this;
}

Params& Params::int8(std::int64_t value) {
  begin();
  put_big_endian(value);
  return *this;
}

Params& Params::int8(std::optional<std::int64_t> value) { return value ? int8(*value) : null(); }

Params& Params::text(std::string_view value) {
  begin();
  buffer_.append(value);
  return *this;
}

Params& Params::text(const std::optional<std::string>& value) {
  return value ? text(std::string_view{*value}) : null();
}

Params& Params::text_or_null(std::string_view value) { return value.empty() ? null() : text(value); }

Params& Params::jsonb(std::string_view value) {
  begin();
  buffer_.push_back('\1');  // format version
  buffer_.append(value);
  return *this;
}

Params& Params::uuid(const Uuid& value) {
  begin();
  put(value.bytes.data(), value.bytes.size());
  return *this;
}

Params& Params::uuid(const std::optional<Uuid>& value) { return value ? uuid(*value) : null(); }

Params& Params::timestamptz(const std::optional<Timestamp>& value) { return value ? int8(to_pg(*value)) : null(); }

Params& Params::interval(Duration value) {
  begin();
  put_big_endian(std::int64_t{value.count()});
  put_big_endian(std::int32_t{0});
  put_big_endian(std::int32_t{0});
  return *this;
}

Params& Params::texts_or_null(std::span<const std::string> values) {
  if (values.empty()) return null();
  Array array = this->array(Element::text);
  for (const std::string& value : values) array.text(std::string_view{value});
  return *this;
}

Params::Array Params::array(Element element) {
  begin();
  const std::size_t start = buffer_.size();
  put_big_endian(std::int32_t{0});  // dimensions; one as soon as there is an element
  put_big_endian(std::int32_t{0});  // may hold nulls; set when one is added
  put_big_endian(static_cast<std::uint32_t>(element));
  return {*this, start};
}

void Params::Array::begin_element(std::size_t bytes) {
  if (count_ == 0) {
    params_.put_big_endian(std::int32_t{0});  // length of the dimension
    params_.put_big_endian(std::int32_t{1});  // its lower bound
    const std::int32_t dimensions = big_endian(std::int32_t{1});
    std::memcpy(params_.buffer_.data() + start_, &dimensions, sizeof dimensions);
  }
  ++count_;
  const std::uint32_t length = big_endian(count_);
  std::memcpy(params_.buffer_.data() + start_ + 12, &length, sizeof length);
  params_.put_big_endian(static_cast<std::uint32_t>(bytes));
}

void Params::Array::null() {
  const std::int32_t has_null = big_endian(std::int32_t{1});
  begin_element(std::numeric_limits<std::uint32_t>::max());  // length -1
  std::memcpy(params_.buffer_.data() + start_ + 4, &has_null, sizeof has_null);
}

void Params::Array::boolean(bool value) {
  begin_element(1);
  params_.buffer_.push_back(value ? '\1' : '\0');
}

void Params::Array::int4(std::int32_t value) {
  begin_element(sizeof value);
  params_.put_big_endian(value);
}

void Params::Array::int8(std::int64_t value) {
  begin_element(sizeof value);
  params_.put_big_endian(value);
}

void Params::Array::text(std::string_view value) {
  begin_element(value.size());
  params_.buffer_.append(value);
}

void Params::Array::text(const std::optional<std::string>& value) { value ? text(std::string_view{*value}) : null(); }

void Params::Array::jsonb_or_null(std::string_view value) { value.empty() ? null() : jsonb(value); }

void Params::Array::jsonb(std::string_view value) {
  begin_element(value.size() + 1);
  params_.buffer_.push_back('\1');  // format version
  params_.buffer_.append(value);
}

void Params::Array::uuid(const Uuid& value) {
  begin_element(value.bytes.size());
  params_.put(value.bytes.data(), value.bytes.size());
}

void Params::Array::uuid(const std::optional<Uuid>& value) { value ? uuid(*value) : null(); }

void Params::Array::tid(std::uint64_t locator) {
  begin_element(6);
  params_.put_big_endian(static_cast<std::uint32_t>(locator >> 16));
  params_.put_big_endian(static_cast<std::uint16_t>(locator & 0xffff));
}

void Params::Array::timestamptz(const std::optional<Timestamp>& value) { value ? int8(to_pg(*value)) : null(); }

void Params::Array::interval(Duration value) {
  begin_element(16);
  params_.put_big_endian(std::int64_t{value.count()});
  params_.put_big_endian(std::int32_t{0});
  params_.put_big_endian(std::int32_t{0});
}

void Params::Array::interval(const std::optional<Duration>& value) { value ? interval(*value) : null(); }

Params::Raw Params::raw() const {
  Raw raw;
  raw.values.reserve(slots_.size());
  raw.lengths.reserve(slots_.size());
  raw.formats.assign(slots_.size(), 1);
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const std::size_t end = i + 1 < slots_.size() ? slots_[i + 1].start : buffer_.size();
    raw.values.push_back(slots_[i].null ? nullptr : buffer_.data() + slots_[i].start);
    raw.lengths.push_back(static_cast<int>(end - slots_[i].start));
  }
  return raw;
}

Rows& Rows::operator=(Rows&& other) noexcept {
  std::swap(result_, other.result_);
  return *this;
}

Rows::~Rows() { PQclear(result_); }

int Rows::size() const { return result_ ? PQntuples(result_) : 0; }

std::int64_t Rows::affected() const {
  const std::string_view count = PQcmdTuples(result_);
  std::int64_t value = 0;
  for (const char digit : count) value = value * 10 + (digit - '0');
  return value;
}

std::string_view Rows::cell(int row, int column) const {
  return {PQgetvalue(result_, row, column), static_cast<std::size_t>(PQgetlength(result_, row, column))};
}

bool Rows::is_null(int row, int column) const { return PQgetisnull(result_, row, column) != 0; }
bool Rows::boolean(int row, int column) const { return cell(row, column).front() != '\0'; }
std::int32_t Rows::int4(int row, int column) const { return read_big_endian<std::int32_t>(cell(row, column)); }
std::int64_t Rows::int8(int row, int column) const { return read_big_endian<std::int64_t>(cell(row, column)); }
std::string_view Rows::text(int row, int column) const { return cell(row, column); }
std::string_view Rows::jsonb(int row, int column) const { return cell(row, column).substr(1); }

Uuid Rows::uuid(int row, int column) const {
  Uuid value;
  std::memcpy(value.bytes.data(), cell(row, column).data(), value.bytes.size());
  return value;
}

std::uint64_t Rows::tid(int row, int column) const {
  const std::string_view bytes = cell(row, column);
  return (std::uint64_t{read_big_endian<std::uint32_t>(bytes)} << 16) | read_big_endian<std::uint16_t>(bytes.substr(4));
}

Timestamp Rows::timestamptz(int row, int column) const {
  const std::int64_t value = int8(row, column);
  if (value == kPlusInfinity) return Timestamp::max();
  if (value == kMinusInfinity) return Timestamp::min();
  return Timestamp{Duration{value + kEpochShiftUs}};
}

std::optional<std::string> Rows::optional_text(int row, int column) const {
  if (is_null(row, column)) return std::nullopt;
  return std::string{text(row, column)};
}

std::optional<Uuid> Rows::optional_uuid(int row, int column) const {
  if (is_null(row, column)) return std::nullopt;
  return uuid(row, column);
}

std::optional<Timestamp> Rows::optional_timestamptz(int row, int column) const {
  if (is_null(row, column)) return std::nullopt;
  return timestamptz(row, column);
}

}  // namespace sluice::store::pq
