-- Forgets a worker process that ended in order.
select core.worker_depart($1::text)
