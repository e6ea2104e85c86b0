-- Events in flight and dead letters by generation, the latter counted no further than :limit (outbox_claims, outbox_dead).
select generation, 'in_flight', count(*)
from outbox
where status = 'in_flight'
group by generation
union all
select generation, 'dead', count(*)
from (select generation from outbox where failed_at is not null and deleted_at is null limit :limit)
group by generation
