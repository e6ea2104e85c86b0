// sentry_receiver.mjs: a real receiver of Sentry envelopes, the sidecar of Spotlight, behind a door that is as
// strict as Sentry about address and authentication (the sidecar takes everything, and its route has no final
// slash). Prints its port, then one line per envelope: what the sidecar has parsed, as its own stream tells it.
import { createServer, request } from "node:http";
import { setupSidecar } from "@spotlightjs/sidecar";

// Its own messages go to stdout otherwise, which is for the test.
const tell = line => process.stdout.write(`${line}\n`);
console.log = console.info = console.warn = console.error;

const sidecar = await setupSidecar({ port: 0, isStandalone: true });
const inside = sidecar.address().port;

const AUTH = /^Sentry sentry_version=7, sentry_client=sluice\/\d+\.\d+\.\d+, sentry_key=0123456789abcdef$/;

function complaint(incoming) {
  if (incoming.method !== "POST" || incoming.url !== "/api/42/envelope/") return `${incoming.method} ${incoming.url}`;
  if (!AUTH.test(incoming.headers["x-sentry-auth"] ?? "")) return `X-Sentry-Auth: ${incoming.headers["x-sentry-auth"]}`;
  if (incoming.headers["content-type"] !== "application/x-sentry-envelope") return "Content-Type";
  return null;
}

const door = createServer((incoming, outgoing) => {
  const wrong = complaint(incoming);
  if (wrong) {
    incoming.resume();
    outgoing.writeHead(400).end(JSON.stringify({ detail: wrong }));
    return;
  }
  const forwarded = request(
    { port: inside, path: "/api/42/envelope", method: "POST", headers: incoming.headers },
    answer => {
      outgoing.writeHead(answer.statusCode);
      answer.pipe(outgoing);
    },
  );
  incoming.pipe(forwarded);
});

request({ port: inside, path: "/stream" }, stream => {
  let text = "";
  stream.setEncoding("utf8");
  stream.on("data", piece => {
    text += piece;
    for (let end; (end = text.indexOf("\n")) >= 0; text = text.slice(end + 1)) {
      const line = text.slice(0, end);
      if (line.startsWith("data: ")) tell(line.slice("data: ".length));
    }
  });
}).end();

door.listen(0, "127.0.0.1", () => tell(door.address().port));
process.stdin.resume().on("end", () => process.exit(0));
