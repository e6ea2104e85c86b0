#include "broker/nats/nats.hpp"

#include <array>
#include <utility>

#include "core/redact.hpp"
#include "core/try.hpp"

namespace sluice::broker {
namespace {

using std::chrono::duration_cast;
using std::chrono::nanoseconds;

using StreamInfo = std::unique_ptr<jsStreamInfo, Destroy<jsStreamInfo, jsStreamInfo_Destroy>>;
using ConsumerList = std::unique_ptr<jsConsumerInfoList, Destroy<jsConsumerInfoList, jsConsumerInfoList_Destroy>>;

Result<StreamInfo> info_of(jsCtx* context, const std::string& stream) {
  jsStreamInfo* raw = nullptr;
  jsErrCode code{};
  const natsStatus status = js_GetStreamInfo(&raw, context, stream.c_str(), nullptr, &code);
  if (status == NATS_OK) return StreamInfo{raw};
  // libnats has a status of its own for a stream that is not there.
  if (code == JSStreamNotFoundErr || (status == NATS_NOT_FOUND && code == 0)) {
    return Error{ErrorCode::not_found, Retry::safe, "there is no JetStream stream " + stream, {}, {}};
  }
  if (status == NATS_NO_RESPONDERS) return error_of(status, JSNotEnabledErr, "reach JetStream on this server");
  return error_of(status, code, "look at the stream " + stream);
}

void read_stream(const jsStreamInfo& info, BrokerFacts& facts) {
  const jsStreamConfig& config = *info.Config;
  facts.stream_exists = true;
  for (int i = 0; i < config.SubjectsLen; ++i) facts.subjects.emplace_back(config.Subjects[i]);
  facts.messages = static_cast<std::int64_t>(info.State.Msgs);
  facts.bytes = static_cast<std::int64_t>(info.State.Bytes);
  if (config.MaxMsgSize > 0 && config.MaxMsgSize < facts.max_message_bytes) facts.max_message_bytes = config.MaxMsgSize;
  if (config.MaxMsgs > 0) facts.max_messages = config.MaxMsgs;
  if (config.MaxBytes > 0) facts.max_bytes = config.MaxBytes;
  facts.duplicate_window = duration_cast<Duration>(nanoseconds{config.Duplicates});
  if (config.MaxAge > 0) facts.max_age = duration_cast<Duration>(nanoseconds{config.MaxAge});
  facts.storage = config.Storage == js_MemoryStorage ? "memory" : "file";
  facts.discard = config.Discard == js_DiscardNew ? "new" : "old";
  facts.replicas = static_cast<int>(config.Replicas);
  int current = 1;
  if (info.Cluster != nullptr) {
    if (info.Cluster->Leader == nullptr || *info.Cluster->Leader == '\0') current = 0;
    for (int i = 0; i < info.Cluster->ReplicasLen; ++i) {
      const jsPeerInfo& peer = *info.Cluster->Replicas[i];
      if (peer.Current && !peer.Offline) ++current;
    }
  }
  facts.replicas_current = current;
}

Result<void> read_consumers(jsCtx* context, BrokerFacts& facts) {
  jsConsumerInfoList* raw = nullptr;
  jsErrCode code{};
  const natsStatus status = js_Consumers(&raw, context, facts.stream.c_str(), nullptr, &code);
  const ConsumerList list{raw};
  if (status == NATS_NOT_FOUND) return {};
  if (status != NATS_OK) return error_of(status, code, "list the consumers of " + facts.stream);
  for (int i = 0; i < list->Count; ++i) {
    const jsConsumerInfo& info = *list->List[i];
    const char* subject = info.Config->FilterSubject;
    DurableOwner owner = owner_of_durable(info.Name).value_or(DurableOwner{});
    facts.consumers.push_back({info.Name, subject == nullptr ? "" : subject, static_cast<std::int64_t>(info.NumPending),
                               info.NumAckPending, std::move(owner.handler_name), owner.generation});
  }
  return {};
}

// Somebody else's stream of that name would take nothing that is relayed.
Result<void> check_subjects(const jsStreamConfig* config, const NatsStream& wanted) {
  std::string subjects;
  for (int i = 0; i < config->SubjectsLen; ++i) {
    if (config->Subjects[i] == wanted.subjects || std::string_view{config->Subjects[i]} == ">") return {};
    subjects += (i == 0 ? "" : ", ") + std::string{config->Subjects[i]};
  }
  return Error{
      ErrorCode::conflict, Retry::never,
      "the stream " + wanted.name + " takes " + (subjects.empty() ? "no subject" : subjects) + ", not " +
          wanted.subjects,
      "relay.stream",
      "nats stream edit " + wanted.name + " --subjects '" + wanted.subjects + "', or give relay.stream another name"};
}

}  // namespace

std::optional<std::int64_t> max_message_bytes(NatsLink& link, const std::string& stream) {
  const auto connection = link.connected();
  if (!connection) return std::nullopt;
  const auto context = link.jetstream(*connection);
  if (!context) return std::nullopt;
  const auto info = info_of(context->get(), stream);
  if (!info || (*info)->Config->MaxMsgSize <= 0) return std::nullopt;
  return (*info)->Config->MaxMsgSize;
}

Result<void> ensure_on_nats(NatsLink& link, const NatsStream& stream, const StreamSpec& spec) {
  SLUICE_TRY(const NatsConnection connection, link.connected());
  SLUICE_TRY(const NatsContext context, link.jetstream(connection));
  const auto there = info_of(context.get(), stream.name);
  if (there) return check_subjects((*there)->Config, stream);
  if (there.error().code != ErrorCode::not_found) return there.error();

  jsStreamConfig config;
  jsStreamConfig_Init(&config);
  std::array<const char*, 1> subjects{stream.subjects.c_str()};
  config.Name = stream.name.c_str();
  config.Description = "Events that Sluice relays";
  config.Subjects = subjects.data();
  config.SubjectsLen = static_cast<int>(subjects.size());
  config.Storage = js_FileStorage;
  config.Replicas = spec.replicas;
  config.Duplicates = duration_cast<nanoseconds>(spec.duplicate_window).count();
  config.MaxAge = duration_cast<nanoseconds>(spec.max_age).count();
  if (spec.max_bytes > 0) config.MaxBytes = spec.max_bytes;
  // A full stream must not drop what nobody has read.
  config.Discard = js_DiscardNew;
  jsErrCode code{};
  const natsStatus status = js_AddStream(nullptr, context.get(), &config, nullptr, &code);
  if (status != NATS_OK) return error_of(status, code, "create the stream " + stream.name);
  return {};
}

Result<BrokerFacts> inspect_nats(NatsLink& link, const std::string& stream) {
  SLUICE_TRY(const NatsConnection connection, link.connected());
  BrokerFacts facts;
  facts.kind = "nats";
  facts.stream = stream;
  std::array<char, 256> url{};
  natsConnection_GetConnectedUrl(connection.get(), url.data(), url.size());
  facts.server = redact_address(url.data());
  facts.max_message_bytes = natsConnection_GetMaxPayload(connection.get());
  SLUICE_TRY(const NatsContext context, link.jetstream(connection));
  const auto info = info_of(context.get(), stream);
  if (!info && info.error().code == ErrorCode::not_found) return facts;
  if (!info) return info.error();
  read_stream(**info, facts);
  SLUICE_CHECK(read_consumers(context.get(), facts));
  return facts;
}

}  // namespace sluice::broker
