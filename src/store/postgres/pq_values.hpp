// PostgreSQL's binary formats: parameters going out, columns coming back. Binary both ways spares the
// server and us the text conversions and every question of quoting.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/time.hpp>
#include <sluice/uuid.hpp>

struct pg_result;

namespace sluice::store::pq {

/// The parameters of one statement, in order.
class Params {
 public:
  Params& boolean(bool value);
  Params& int4(std::int32_t value);
  Params& int8(std::int64_t value);
  Params& int8(std::optional<std::int64_t> value);
  Params& text(std::string_view value);
  Params& text(const std::optional<std::string>& value);
  Params& text_or_null(std::string_view value);  ///< empty becomes null
  Params& jsonb(std::string_view value);
  Params& uuid(const Uuid& value);
  Params& uuid(const std::optional<Uuid>& value);
  Params& timestamptz(const std::optional<Timestamp>& value);
  Params& interval(Duration value);
  Params& null();

  /// One array parameter: begin, add elements, and the next parameter or array ends it.
  class Array {
   public:
    void boolean(bool value);
    void int4(std::int32_t value);
    void int8(std::int64_t value);
    void text(std::string_view value);
    void text(const std::optional<std::string>& value);
    void jsonb(std::string_view value);
    void jsonb_or_null(std::string_view value);  ///< empty becomes null
    void uuid(const Uuid& value);
    void uuid(const std::optional<Uuid>& value);
    void tid(std::uint64_t locator);
    void timestamptz(const std::optional<Timestamp>& value);
    void interval(Duration value);
    void interval(const std::optional<Duration>& value);

   private:
    friend class Params;
    Array(Params& params, std::size_t start) : params_(params), start_(start) {}
    void begin_element(std::size_t bytes);
    void null();
    Params& params_;
    std::size_t start_;
    std::uint32_t count_ = 0;
  };
  enum class Element : std::uint32_t {
    boolean = 16,
    int8 = 20,
    int4 = 23,
    text = 25,
    tid = 27,
    timestamptz = 1184,
    interval = 1186,
    uuid = 2950,
    jsonb = 3802,
  };
  Array array(Element element);
  /// A text[] parameter; null when the list is empty.
  Params& texts_or_null(std::span<const std::string> values);

  struct Raw {
    std::vector<const char*> values;
    std::vector<int> lengths;
    std::vector<int> formats;
  };
  [[nodiscard]] Raw raw() const;

 private:
  void begin();
  void put(const void* bytes, std::size_t size);
  template <class T>
  void put_big_endian(T value);
  struct Slot {
    std::size_t start;
    bool null;
  };
  std::string buffer_;
  std::vector<Slot> slots_;
};

/// The rows that a statement returned, all columns binary. Owns the result.
class Rows {
 public:
  Rows() = default;
  explicit Rows(pg_result* result) : result_(result) {}
  Rows(Rows&& other) noexcept : result_(other.result_) { other.result_ = nullptr; }
  Rows& operator=(Rows&& other) noexcept;
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;
  ~Rows();

  [[nodiscard]] const pg_result* get() const { return result_; }
  [[nodiscard]] int size() const;
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] std::int64_t affected() const;

  [[nodiscard]] bool is_null(int row, int column) const;
  [[nodiscard]] bool boolean(int row, int column) const;
  [[nodiscard]] std::int32_t int4(int row, int column) const;
  [[nodiscard]] std::int64_t int8(int row, int column) const;
  [[nodiscard]] std::string_view text(int row, int column) const;
  [[nodiscard]] std::string_view jsonb(int row, int column) const;
  [[nodiscard]] Uuid uuid(int row, int column) const;
  [[nodiscard]] std::uint64_t tid(int row, int column) const;
  [[nodiscard]] Timestamp timestamptz(int row, int column) const;

  [[nodiscard]] std::optional<std::string> optional_text(int row, int column) const;
  [[nodiscard]] std::optional<Uuid> optional_uuid(int row, int column) const;
  [[nodiscard]] std::optional<Timestamp> optional_timestamptz(int row, int column) const;

 private:
  [[nodiscard]] std::string_view cell(int row, int column) const;
  pg_result* result_ = nullptr;
};

/// What `make(row)` gives for each row, in order.
template <class Make>
auto collect(const Rows& rows, Make make) {
  std::vector<decltype(make(0))> all;
  all.reserve(static_cast<std::size_t>(rows.size()));
  for (int row = 0; row < rows.size(); ++row) all.push_back(make(row));
  return all;
}

}  // namespace sluice::store::pq
