// Drains a backlog of jobs with graphile-worker and prints one JSON line.
//   DATABASE_URL=… node graphile_drain.mjs JOBS [CONCURRENCY] [QUEUE]
// The defaults are the best that were found on two cores, by running this twice each with 60,000 jobs, concurrency 12 to
// 96 and a local queue of 500 to 10,000, in jobs/s: 12 with 500 made 12k and 15k, 24 with 5000 made 17k and 19k, 48 with 2000
// made 15k and 19k, 48 with 5000 made 16k and 26k, 48 with 10,000 made 20k and 21k, 96 with 5000 made 15k and 21k, 96 with
// 10,000 made 19k and 13k. Completions go in batches without delay; nothing is logged.
import { run, runMigrations, Logger } from "graphile-worker";
import pg from "pg";

const jobs = Number(process.argv[2] ?? 200000);
const concurrency = Number(process.argv[3] ?? 48);
const size = Number(process.argv[4] ?? 5000);
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 60 });
const payload = {
  customer: "c-1742", currency: "EUR", total: "129.90",
  lines: [{ sku: "A-100", quantity: 2 }, { sku: "B-220", quantity: 1 }],
  note: "leave it with the neighbour",
};

const quiet = new Logger(() => () => {});
await runMigrations({ pgPool: pool, logger: quiet });
await pool.query(
  `select graphile_worker.add_jobs(array(
     select row('nothing', ($1::jsonb || jsonb_build_object('order_id', i))::json, null, null, null, null, null, null)::graphile_worker.job_spec
     from generate_series(1, $2::int) i))`,
  [JSON.stringify(payload), jobs]);
await pool.query("vacuum analyze graphile_worker._private_jobs");

let done = 0;
let finished;
const all = new Promise((resolve) => { finished = resolve; });
const start = process.hrtime.bigint();
const runner = await run({
  pgPool: pool,
  logger: quiet,
  concurrency,
  noHandleSignals: true,
  taskList: { nothing: () => { if (++done === jobs) finished(); } },
  preset: {
    worker: {
      concurrentJobs: concurrency,
      localQueue: { size },
      completeJobBatchDelay: 0,
      failJobBatchDelay: 0,
    },
  },
});
await all;
// The last completions are still on their way to the database; a drain is over when they have arrived.
for (;;) {
  const { rows } = await pool.query("select exists (select from graphile_worker._private_jobs) as left");
  if (!rows[0].left) break;
}
const seconds = Number(process.hrtime.bigint() - start) / 1e9;
console.log(JSON.stringify({ bench: "graphile-worker drain", value: jobs / seconds, unit: "jobs/s", detail: { jobs, concurrency, size } }));
await runner.stop();
await pool.end();
