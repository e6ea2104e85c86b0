-- The generations that have events, hopping from one to the next: the newest number of each, how far the group of
-- workers that is furthest behind has scanned, the oldest running transaction for whoever looks next, and the oldest
-- number. Index outbox_scan, three times per generation.
with recursive part (generation) as (
    select min(o.generation) from core.outbox o
    union all
    select (select min(o.generation) from core.outbox o where o.generation > p.generation)
    from part p where p.generation is not null)
select p.generation,
       (select max(o.seq) from core.outbox o where o.generation = p.generation),
       (select min(c.low) from core.claim_cursors c where split_part(c.group_key, '|', 1) = p.generation::text),
       pg_snapshot_xmin(pg_current_snapshot())::text::bigint,
       (select min(o.seq) from core.outbox o where o.generation = p.generation)
from part p
where p.generation is not null
