// Drains a backlog of jobs with graphile-worker and prints one JSON line. The settings are the best that
// were found on two cores: a local queue of thousands, completions in batches, no logging.
//   DATABASE_URL=… node graphile_drain.mjs JOBS
import { run, runMigrations, Logger } from "graphile-worker";
import pg from "pg";

const jobs = Number(process.argv[2] ?? 200000);
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
  concurrency: 48,
  noHandleSignals: true,
  taskList: { nothing: () => { if (++done === jobs) finished(); } },
  preset: {
    worker: {
      concurrentJobs: 48,
      localQueue: { size: 5000 },
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
console.log(JSON.stringify({ bench: "graphile-worker drain", value: jobs / seconds, unit: "jobs/s", detail: { jobs } }));
await runner.stop();
await pool.end();
