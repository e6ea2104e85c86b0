#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "config/config.hpp"
#include "config/gather.hpp"

namespace sluice::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

Result<Config> otel_config(Environment variables) {
  Sources sources;
  sources.environment = std::move(variables);
  sources.environment["HOME"] = "/nonexistent";
  return load(sources);
}

std::string otel_refusal(Environment variables) {
  const auto config = otel_config(std::move(variables));
  EXPECT_FALSE(config);
  return config ? "" : config.error().message;
}

TEST(OtelConfig, WithoutAnEndpointNothingIsSent) {
  const auto config = otel_config({});
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->otel.traces_url(), "");
  EXPECT_EQ(config->otel.metrics_url(), "");
  EXPECT_EQ(config->trace_url, "");
}

TEST(OtelConfig, AnEndpointIsTheBaseOfBoth) {
  const auto config = otel_config({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318/"}});
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->otel.traces_url(), "http://collector:4318/v1/traces");
  EXPECT_EQ(config->otel.metrics_url(), "http://collector:4318/v1/metrics");
  EXPECT_TRUE(config->otel.samples_by_parent());
  EXPECT_EQ(config->otel.sample_ratio(), 1);
  EXPECT_EQ(config->otel.metric_interval, std::chrono::seconds{30});
}

TEST(OtelConfig, AnEndpointOfItsOwnIsTakenWhole) {
  const auto config = otel_config({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318"},
                                   {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://traces.example.com/in"},
                                   {"OTEL_METRICS_EXPORTER", "none"}});
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->otel.traces_url(), "https://traces.example.com/in");
  EXPECT_EQ(config->otel.metrics_url(), "");
}

TEST(OtelConfig, CanBeDisabledAsAWhole) {
  const auto config =
      otel_config({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318"}, {"OTEL_SDK_DISABLED", "TRUE"}});
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->otel.traces_url(), "");
  EXPECT_EQ(config->otel.metrics_url(), "");
}

TEST(OtelConfig, EachPartCanBeLeftOut) {
  const auto without = [](const char* variable) {
    return otel_config({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318"}, {variable, "none"}});
  };
  EXPECT_EQ(without("OTEL_TRACES_EXPORTER")->otel.traces_url(), "");
  EXPECT_NE(without("OTEL_TRACES_EXPORTER")->otel.metrics_url(), "");
  EXPECT_EQ(without("OTEL_METRICS_EXPORTER")->otel.metrics_url(), "");
  EXPECT_NE(without("OTEL_METRICS_EXPORTER")->otel.traces_url(), "");
}

TEST(OtelConfig, TheLogIsSentOnlyWhereThatIsAskedFor) {
  const auto logs_url = [](Environment variables) { return otel_config(std::move(variables))->otel.logs_url(); };
  const std::pair<const std::string, std::string> base{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318"};
  const std::pair<const std::string, std::string> own{"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "http://logs:4318/in"};
  EXPECT_EQ(logs_url({base}), "");
  EXPECT_EQ(logs_url({base, {"OTEL_LOGS_EXPORTER", "otlp"}}), "http://collector:4318/v1/logs");
  EXPECT_EQ(logs_url({own}), "http://logs:4318/in");
  EXPECT_EQ(logs_url({base, own, {"OTEL_LOGS_EXPORTER", "otlp"}}), "http://logs:4318/in");
  EXPECT_EQ(logs_url({base, own, {"OTEL_LOGS_EXPORTER", "none"}}), "");
  EXPECT_EQ(logs_url({base, own, {"OTEL_SDK_DISABLED", "true"}}), "");
  EXPECT_EQ(logs_url({{"OTEL_LOGS_EXPORTER", "otlp"}}), "");
}

TEST(OtelConfig, ReadsWhatTheSpecificationWrites) {
  const auto config = otel_config({{"OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20b , x-team = web,"},
                                   {"OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=prod,team=a%2Cb"},
                                   {"OTEL_EXPORTER_OTLP_TIMEOUT", "1500"},
                                   {"OTEL_METRIC_EXPORT_INTERVAL", "60000"},
                                   {"OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"},
                                   {"OTEL_SERVICE_NAME", "shop"},
                                   {"OTEL_TRACES_SAMPLER", "parentbased_traceidratio"},
                                   {"OTEL_TRACES_SAMPLER_ARG", "0.01"}});
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_THAT(config->otel.headers, ElementsAre(Pair("api-key", "a b"), Pair("x-team", "web")));
  EXPECT_THAT(config->otel.resource, ElementsAre(Pair("deployment.environment.name", "prod"), Pair("team", "a,b")));
  EXPECT_EQ(config->otel.timeout, std::chrono::milliseconds{1500});
  EXPECT_EQ(config->otel.metric_interval, std::chrono::minutes{1});
  EXPECT_EQ(config->otel.compression, OtelConfig::Compression::gzip);
  EXPECT_EQ(config->otel.service_name, "shop");
  EXPECT_EQ(config->otel.sample_ratio(), 0.01);
}

TEST(OtelConfig, EverySamplerIsAParentAndARatio) {
  const auto of = [](const char* sampler) {
    const auto config = otel_config({{"OTEL_TRACES_SAMPLER", sampler}, {"OTEL_TRACES_SAMPLER_ARG", "0.5"}});
    return std::pair{config->otel.samples_by_parent(), config->otel.sample_ratio()};
  };
  EXPECT_EQ(of("always_on"), (std::pair{false, 1.0}));
  EXPECT_EQ(of("always_off"), (std::pair{false, 0.0}));
  EXPECT_EQ(of("traceidratio"), (std::pair{false, 0.5}));
  EXPECT_EQ(of("parentbased_always_on"), (std::pair{true, 1.0}));
  EXPECT_EQ(of("parentbased_always_off"), (std::pair{true, 0.0}));
  EXPECT_EQ(of("parentbased_traceidratio"), (std::pair{true, 0.5}));
}

TEST(OtelConfig, BadValuesAreNamedAndSecretsAreNot) {
  EXPECT_EQ(
      otel_refusal({{"OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"}}),
      "OTEL_EXPORTER_OTLP_ENDPOINT: the value is not the address of a collector; write http://HOST:4318, its port "
      "for OTLP over HTTP");
  EXPECT_THAT(otel_refusal({{"OTEL_EXPORTER_OTLP_HEADERS", "sesame"}}),
              testing::AllOf(HasSubstr("OTEL_EXPORTER_OTLP_HEADERS"), Not(HasSubstr("sesame"))));
  EXPECT_THAT(otel_refusal({{"OTEL_EXPORTER_OTLP_HEADERS", "a=b%0d%0ac: d"}}), HasSubstr("headers"));
  EXPECT_THAT(otel_refusal({{"OTEL_TRACES_SAMPLER", "jaeger_remote"}}), HasSubstr("parentbased_traceidratio"));
  EXPECT_THAT(otel_refusal({{"OTEL_TRACES_SAMPLER_ARG", "1%"}}), HasSubstr("0.01"));
  EXPECT_THAT(otel_refusal({{"OTEL_EXPORTER_OTLP_TIMEOUT", "0"}}), HasSubstr("above zero"));
}

// For other programs on the machine it may be the right one.
TEST(OtelConfig, GrpcIsRefusedOnlyWhereSomethingIsSent) {
  EXPECT_TRUE(otel_config({{"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"}}));
  EXPECT_THAT(
      otel_refusal({{"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"}, {"OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4317"}}),
      HasSubstr("http/json"));
}

TEST(OtelConfig, TheAddressOfATraceHasAPlaceForItsId) {
  EXPECT_EQ(otel_config({{"SLUICE_TRACE_URL", "https://t.example/trace/{trace_id}"}})->trace_url,
            "https://t.example/trace/{trace_id}");
  for (const char* bad : {"https://t.example/trace", "{trace_id}", "javascript:alert('{trace_id}')",
                          "https://t.example/{trace_id}/{trace_id}"}) {
    EXPECT_THAT(otel_refusal({{"SLUICE_TRACE_URL", bad}}), HasSubstr("{trace_id} in it once")) << bad;
  }
}

}  // namespace
}  // namespace sluice::config
