// The client library over POST /mcp with its handshake: URL TOKEN EVENT_ID. Replays one event, and tells the session's id.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const [url, token, event_id] = process.argv.slice(2);
const client = new Client({ name: 'triage-bot', version: '1.0.0' });
const headers = { Authorization: `Bearer ${token}` };
const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
await client.connect(transport);
const reason = 'the receiver is back';
const replayed = await client.callTool({ name: 'replay_dlq_event', arguments: { event_id, reason } });
if (replayed.isError) throw new Error(replayed.content[0].text);
console.log(transport.sessionId);
await client.close();
