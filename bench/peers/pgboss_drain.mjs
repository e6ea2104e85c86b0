// Fetches and completes a backlog with pg-boss and prints one JSON line.
//   DATABASE_URL=… node pgboss_drain.mjs JOBS [BATCH] [LOOPS] [PRIORITY]
// The defaults are the best that were found on two cores, by running this with batches of 100 to 20,000, 1, 2 and 4
// loops, with and without the order by priority. Each fetch sorts the waiting jobs again, so batches count most: with a
// backlog of 30,000 and 2 loops 100 a fetch made 5.6k jobs/s, 1000 made 17k, 5000 made 26k. With 100,000 waiting,
// 2000 a fetch made 7k to 9k, 5000 made 9.9k with 2 loops and 12.5k with 4, and 10,000 or 20,000 no more than that. The
// order by priority costs up to half. Supervision and schedules are off: only fetch and complete are timed.
import PgBoss from "pg-boss";

const jobs = Number(process.argv[2] ?? 200000);
const batchSize = Number(process.argv[3] ?? 5000);
const loops = Number(process.argv[4] ?? 4);
const priority = (process.argv[5] ?? "no") === "yes";
const payload = {
  customer: "c-1742", currency: "EUR", total: "129.90",
  lines: [{ sku: "A-100", quantity: 2 }, { sku: "B-220", quantity: 1 }],
  note: "leave it with the neighbour",
};

const boss = new PgBoss({ connectionString: process.env.DATABASE_URL, max: loops + 2, supervise: false, schedule: false });
boss.on("error", (error) => { console.error(error); process.exit(1); });
await boss.start();
await boss.createQueue("nothing");
for (let made = 0; made < jobs; made += 5000) {
  const size = Math.min(5000, jobs - made);
  await boss.insert(Array.from({ length: size }, (_, i) => ({ name: "nothing", data: { order_id: made + i, ...payload } })));
}
await boss.getDb().executeSql("vacuum analyze");

const start = process.hrtime.bigint();
let done = 0;
await Promise.all(Array.from({ length: loops }, async () => {
  for (;;) {
    const batch = await boss.fetch("nothing", { batchSize, priority });
    if (batch.length === 0) return;
    await boss.complete("nothing", batch.map((job) => job.id));
    done += batch.length;
  }
}));
const seconds = Number(process.hrtime.bigint() - start) / 1e9;
if (done !== jobs) throw new Error(`${done} of ${jobs} jobs were completed`);
console.log(JSON.stringify({ bench: "pg-boss fetch+complete", value: jobs / seconds, unit: "jobs/s", detail: { jobs, batchSize, loops, priority } }));
await boss.stop({ graceful: false });
