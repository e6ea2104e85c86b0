// collector.mjs [STATUS…]: a real OTLP/HTTP receiver. Prints its port, then a line of JSON for each request that it took:
// {"spans":[…]}, {"metrics":[…]} or {"logs":[…]}. The first requests are answered with the statuses that are given, the others with 200.
//
// Decodes with the definitions that OpenTelemetry's own SDK for JavaScript is generated from. A field that they do not
// know, or that they write otherwise, is refused: the request would not come back as it went in.
import { isDeepStrictEqual } from 'node:util';
import { createServer } from 'node:http';
import { gunzipSync } from 'node:zlib';
import root from '@opentelemetry/otlp-transformer/build/src/generated/root.js';

const { trace, metrics, logs } = root.opentelemetry.proto.collector;
const requests = {
  '/v1/traces': [trace.v1.ExportTraceServiceRequest, (sent) => ({ spans: spansOf(sent) })],
  '/v1/metrics': [metrics.v1.ExportMetricsServiceRequest, (sent) => ({ metrics: metricsOf(sent) })],
  '/v1/logs': [logs.v1.ExportLogsServiceRequest, (sent) => ({ logs: logsOf(sent) })],
};
const statuses = process.argv.slice(2).map(Number);

const isId = (key) => key === 'traceId' || key === 'spanId' || key === 'parentSpanId';
// The mapping has ids in hexadecimal; everywhere else it has bytes in base64.
function recoded(value, from, to) {
  if (Array.isArray(value)) return value.map((each) => recoded(each, from, to));
  if (value === null || typeof value !== 'object') return value;
  const pairs = Object.entries(value).map(([key, inner]) => [
    key,
    isId(key) ? Buffer.from(inner, from).toString(to) : recoded(inner, from, to),
  ]);
  return Object.fromEntries(pairs);
}

function decoded(type, text) {
  const sent = JSON.parse(text);
  const message = type.fromObject(recoded(sent, 'hex', 'base64'));
  const read = type.decode(type.encode(message).finish());
  const back = recoded(type.toObject(read, { longs: String, bytes: String }), 'base64', 'hex');
  const same = isDeepStrictEqual(withoutDefaults(back), withoutDefaults(sent));
  if (!same) throw new Error(`not what the protocol says: ${text} came back as ${JSON.stringify(back)}`);
  return sent;
}

// What is empty, zero or false may be left out.
function withoutDefaults(value) {
  if (Array.isArray(value)) return value.map(withoutDefaults);
  if (value === null || typeof value !== 'object') return value;
  const kept = Object.entries(value).filter(
    ([, inner]) => !(inner === '' || inner === 0 || inner === false || (Array.isArray(inner) && inner.length === 0)),
  );
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutDefaults(inner)]));
}

const simple = ({ stringValue, boolValue, doubleValue, intValue }) => stringValue ?? boolValue ?? doubleValue ?? Number(intValue);
const plain = (attributes) => Object.fromEntries((attributes ?? []).map(({ key, value }) => [key, simple(value)]));

function spansOf(sent) {
  return sent.resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({ ...span, attributes: plain(span.attributes), resource: plain(resource.attributes) })),
    ),
  );
}

function metricsOf(sent) {
  return sent.resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics));
}

function logsOf(sent) {
  return sent.resourceLogs.flatMap(({ resource, scopeLogs }) =>
    scopeLogs.flatMap(({ logRecords }) =>
      logRecords.map((each) => ({ ...each, attributes: plain(each.attributes), resource: plain(resource.attributes) })),
    ),
  );
}

const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const answer = (status, body) => response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  try {
    const [type, told] = requests[request.url];
    if (request.headers['content-type'] !== 'application/json') throw new Error('the content type is not JSON');
    const packed = request.headers['content-encoding'] === 'gzip';
    const body = Buffer.concat(chunks);
    const sent = decoded(type, (packed ? gunzipSync(body) : body).toString());
    const status = statuses.shift() ?? 200;
    if (status !== 200) return answer(status, '{}');
    console.log(JSON.stringify({ ...told(sent), packed, headers: request.headers }));
    answer(200, '{"partialSuccess":{}}');
  } catch (error) {
    console.log(JSON.stringify({ refused: String(error) }));
    answer(400, JSON.stringify({ message: String(error) }));
  }
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.stdin.resume().on('end', () => process.exit(0));
