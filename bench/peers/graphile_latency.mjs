// From the return of add_job to the entry of the task, on an idle system, one job at a time, with
// graphile-worker; prints one JSON line. No local queue: it answers a single job sooner without one.
//   DATABASE_URL=… node graphile_latency.mjs JOBS
import { run, runMigrations, Logger } from "graphile-worker";
import pg from "pg";

const jobs = Number(process.argv[2] ?? 2000);
const warmUp = Math.floor(jobs / 10);
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 20 });
const publisher = new pg.Client({ connectionString: process.env.DATABASE_URL });
const quiet = new Logger(() => () => {});
await runMigrations({ pgPool: pool, logger: quiet });
await publisher.connect();

let entered;
const runner = await run({
  pgPool: pool,
  logger: quiet,
  concurrency: 2,
  noHandleSignals: true,
  taskList: { nothing: () => { entered(process.hrtime.bigint()); } },
});

const milliseconds = [];
for (let number = 1; number <= jobs + warmUp; ++number) {
  await new Promise((resolve) => setTimeout(resolve, 1 + Math.random() * 3));
  const handled = new Promise((resolve) => { entered = resolve; });
  await publisher.query({
    name: "add",
    text: "select graphile_worker.add_job('nothing', $1::json)",
    values: [JSON.stringify({ order_id: number, note: "leave it with the neighbour" })],
  });
  const committed = process.hrtime.bigint();
  const at = await handled;
  if (number > warmUp) milliseconds.push(Number(at - committed) / 1e6);
}
milliseconds.sort((a, b) => a - b);
const percentile = (part) => milliseconds[Math.floor(part * (milliseconds.length - 1))];
console.log(JSON.stringify({
  bench: "graphile-worker latency", value: percentile(0.5), unit: "ms",
  detail: { p50: percentile(0.5), p99: percentile(0.99), events: jobs },
}));
await runner.stop();
await publisher.end();
await pool.end();
