select
id,
event_type,
source,
target,
workspace_id,
attempts,
last_error,
first_failed_at,
claimed_at as failed_at,
jsonb_array_length(failure_history) as prior_replay_count
from core.outbox
where status = 'failed'
and deleted_at is null
order by claimed_at desc
limit 50;

select *
from core.outbox
where id = '<event-id>';

-- Failures grouped by event_type
select event_type, source, target, count(*)
from core.outbox
where status = 'failed' and deleted_at is null
group by event_type, source, target
order by count(*) desc;

-- Failures grouped by error class (heuristic: first line of last_error)
select
split_part(last_error, ':', 1) as error_class,
count(*)
from core.outbox
where status = 'failed' and deleted_at is null
group by error_class
order by count(*) desc;

-- Replay against the current production generation.
-- Look up SPECTRAL_GENERATION first; for production, query
-- core.deployments for the most recent live generation.
select max(generation) from core.deployments;

-- Then replay the specific event:
select core.outbox_replay(
p_event_id => '<event-id>',
p_new_generation => <current-generation>,
p_replayed_by => 'operator-identity' -- nullable; caller's choice
);

update core.outbox
set deleted_at = now()
where id = '<event-id>'
and status = 'failed';

select channel, count(*)
from core.outbox
where status = 'pending' and deleted_at is null
group by channel;

-- Backlog by status
select status, count(*) from core.outbox
where deleted_at is null group by status;

-- Stale in-flight (potential reaper-attention candidates)
select id, claimed_at, age(now(), claimed_at) as age
from core.outbox
where status = 'in_flight' and claimed_at < now() - interval '5 minutes'
order by claimed_at;

-- Notify queue health (per ADR-044)
select pg_notification_queue_usage();

-- Generation distribution (legacy-drain candidates)
select generation, status, count(*)
from core.outbox
where deleted_at is null
group by generation, status
order by generation;
