-- Whether the next number lies above all that were drawn, as far as rows and marks tell: one sentence if not. The
-- generations are hopped over; index outbox_scan, twice per generation. The rows are read in a snapshot that is older than
-- the value of the sequence, so publishers at work do not matter.
with recursive part (generation) as (
    select min(o.generation) from core.outbox o
    union all
    select (select min(o.generation) from core.outbox o where o.generation > p.generation)
    from part p where p.generation is not null),
seen as (
    select coalesce((select max((select max(o.seq) from core.outbox o where o.generation = p.generation))
                     from part p where p.generation is not null), 0) as newest,
           coalesce((select max(greatest(c.low, c.mark)) from core.claim_cursors c), 0) as mark),
drawn as (
    select case when q.is_called then q.last_value else q.last_value - 1 end as last from core.outbox_seq q)
select 'sequence core.outbox_seq stands at ' || d.last || ' and is behind '
    || case when s.newest > d.last then 'event number ' || s.newest else 'mark ' || s.mark || ' of core.claim_cursors' end
    || ', so new events are passed over: run `select setval(''core.outbox_seq'', ' || greatest(s.newest, s.mark) || ')`'
from seen s cross join drawn d
where greatest(s.newest, s.mark) > d.last
