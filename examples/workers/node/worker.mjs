// A worker for Sluice in Node (18 or newer), without packages.
//
// It claims events over HTTP, keeps its claims alive while it works, and says how each event went:
//
//     SLUICE_URL=http://127.0.0.1:7311 node worker.mjs
//
// Write your own `handle` and keep the rest. Delivery is at least once: after a crash, a lost connection or a claim
// that ran out, the same event comes again. Make the effect idempotent by `event.idempotency_key`, which stays the same
// through retries and replays.
import os from 'node:os';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

/** Throw it when another attempt cannot help: the event goes to the dead letters at once. */
export class Terminal extends Error {
  name = 'Terminal';
}

/** Throw it for "not now": the event comes again after this many seconds, and no attempt is counted. */
export class Defer extends Error {
  constructor(seconds) {
    super(`not before ${seconds} s have passed`);
    this.seconds = seconds;
  }
}

/** The same request would fail the same way. */
class Refused extends Error {}

export class Worker {
  constructor(handler, eventTypes, handle, options = {}) {
    this.url = (options.url ?? process.env.SLUICE_URL ?? 'http://127.0.0.1:7311').replace(/\/+$/, '');
    this.token = options.token ?? process.env.SLUICE_TOKEN;
    this.name = options.name ?? `${os.hostname()}:${process.pid}`;
    this.limit = options.limit ?? 10;
    this.ttl = options.ttl ?? 60;
    this.wait = options.wait ?? Number(process.env.SLUICE_WAIT_SECONDS ?? 10);
    this.handler = handler;
    this.eventTypes = eventTypes;
    this.handle = handle;
    this.held = new Map(); // claim -> the controller that tells its handler that the claim is lost
    this.stopping = new AbortController();
  }

  /** Finishes what it is working on, gives the rest back, and ends run() within `wait` seconds. */
  stop() {
    this.stopping.abort();
  }

  async run() {
    const heartbeat = setInterval(() => this.keepClaims(), (this.ttl * 1000) / 3);
    try {
      let failures = 0;
      while (!this.stopping.signal.aborted) {
        let claims;
        try {
          claims = await this.claim();
          failures = 0;
        } catch (error) {
          if (error instanceof Refused) throw error;
          await this.backOff(++failures, error, this.stopping.signal);
          continue;
        }
        while (claims.length > 0) {
          const next = this.stopping.signal.aborted ? claims.splice(0) : claims.splice(0, 1);
          const reports = this.stopping.signal.aborted
            ? next.map(({ claim }) => ({ claim, outcome: 'released' }))
            : [await this.work(next[0])];
          await this.settle(reports);
        }
      }
    } finally {
      clearInterval(heartbeat);
    }
  }

  async claim() {
    const body = {
      handler: this.handler, event_types: this.eventTypes, worker: this.name,
      limit: this.limit, wait_seconds: this.wait, ttl_seconds: this.ttl,
    };
    const { claims } = await this.post('/v1/claims', body, this.wait + 30);
    for (const { claim } of claims) this.held.set(claim, new AbortController());
    return claims;
  }

  /** Runs the handler and turns what it did into a settlement. */
  async work({ claim, event }) {
    const lost = this.held.get(claim).signal;
    if (lost.aborted) return { claim, outcome: 'released' }; // lost while it waited its turn: somebody else has it
    try {
      await this.handle(event, lost);
      return { claim, outcome: 'handled' };
    } catch (error) {
      if (error instanceof Defer) return { claim, outcome: 'deferred', retry_after_seconds: error.seconds };
      return {
        claim, outcome: 'failed', error_class: error.name || 'Error',
        message: cut(String(error.message)), terminal: error instanceof Terminal,
      };
    }
  }

  /** Repeats until the answer is there: settling the same claim twice changes nothing. */
  async settle(reports) {
    const giveUp = Date.now() + this.ttl * 1000;
    for (let failures = 1; ; ++failures) {
      try {
        const { settled } = await this.post('/v1/claims/settle', { settlements: reports });
        for (const { result, detail } of settled) {
          if (result !== 'settled') log(`${result}: ${detail ?? 'another worker has this event, or an earlier try counted'}`);
        }
        break;
      } catch (error) {
        if (error instanceof Refused) throw error;
        if (Date.now() > giveUp) {
          log(`cannot settle, the claim will run out: ${error.message}`);
          break;
        }
        await this.backOff(failures, error);
      }
    }
    for (const { claim } of reports) this.held.delete(claim);
  }

  /** Renews the claims that are held, so that a slow handler does not lose its event. */
  async keepClaims() {
    if (this.held.size === 0) return;
    try {
      const { lost } = await this.post('/v1/claims/heartbeat', { claims: [...this.held.keys()], ttl_seconds: this.ttl });
      for (const claim of lost) this.held.get(claim)?.abort();
    } catch (error) {
      log(`cannot renew claims: ${error.message}`);
    }
  }

  async backOff(failures, error, signal) {
    const pause = Math.random() * Math.min(30, 0.5 * 2 ** failures);
    log(`${error.message}; trying again in ${pause.toFixed(1)} s`);
    await sleep(pause * 1000, undefined, { signal }).catch(() => {});
  }

  async post(path, body, timeoutSeconds = 30) {
    const headers = { 'Content-Type': 'application/json' };
    if (this.token) headers.Authorization = `Bearer ${this.token}`;
    const signal = AbortSignal.timeout(timeoutSeconds * 1000);
    const response = await fetch(this.url + path, { method: 'POST', headers, body: JSON.stringify(body), signal });
    if (response.ok) return response.json();
    const problem = `${path}: ${response.status} ${await response.text()}`;
    throw [400, 401, 403, 404, 409, 415].includes(response.status) ? new Refused(problem) : new Error(problem);
  }
}

/** No more bytes than are kept, and no half character at the end. */
function cut(text, most = 4096) {
  const bytes = Buffer.from(text);
  let end = Math.min(most, bytes.length);
  while (end > 0 && end < bytes.length && (bytes[end] & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}

function log(text) {
  process.stderr.write(`${text}\n`);
}

/** Yours to write. Here: a greeting for each customer. */
async function handle(event) {
  if (!('name' in event.payload)) throw new Terminal('the payload has no name');
  process.stdout.write(`${event.idempotency_key} hello ${event.payload.name}\n`);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const worker = new Worker('examples.greeter', ['customer.*'], handle);
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => worker.stop());
  await worker.run();
}
