#include "http/gzip.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

namespace sluice::http {
namespace {

std::string unpacked(std::string_view packed, std::size_t size) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
  std::string text(size, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  inflateEnd(&stream);
  return text;
}

TEST(Gzip, ComesBackAsItWas) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "{\"event\":" + std::to_string(i) + "},";
  const auto packed = gzip(text);
  ASSERT_TRUE(packed);
  EXPECT_LT(packed->size(), text.size() / 3);
  EXPECT_EQ(unpacked(*packed, text.size()), text);
}

TEST(Gzip, WhatDoesNotShrinkIsLeftAlone) {
  std::string noise;
  std::uint32_t state = 7;
  for (int i = 0; i < 4000; ++i) {
    state = state * 1664525 + 1013904223;
    noise += static_cast<char>(state >> 24);
  }
  EXPECT_EQ(gzip(noise), std::nullopt);
  EXPECT_EQ(gzip(""), std::nullopt);
}

TEST(Gzip, IsSentToWhoAsksForIt) {
  for (const char* asks :
       {"gzip", "deflate, gzip", "GZIP;q=0.5", "x-gzip", "*", "br;q=1.0, gzip;q=0.001", "identity;q=0, *"}) {
    EXPECT_TRUE(accepts_gzip(asks)) << asks;
  }
  for (const char* refuses :
       {"", "identity", "br, deflate", "gzip;q=0", "gzip; q=0.000", "*;q=0", "*, gzip;q=0", "gzipped"}) {
    EXPECT_FALSE(accepts_gzip(refuses)) << refuses;
  }
}

}  // namespace
}  // namespace sluice::http
