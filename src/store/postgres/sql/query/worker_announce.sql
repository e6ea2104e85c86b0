-- Adds or renews the record of a worker process.
select core.worker_announce($1::text, $2::bigint, $3::text[], $4::text)
