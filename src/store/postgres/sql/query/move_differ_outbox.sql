-- How many events of a slice are not stored as they were given, or were not given. As move_clear_outbox finds them.
{{move_generations}},
stored as materialized (
    select o.* from part p, lateral (
        select o.* from core.outbox o
        where o.generation = p.generation and o.seq > $2::bigint * 2000 and o.seq <= ($2::bigint + 1) * 2000
        order by o.seq limit 2000) o)
select (select count(*) from (
{{move_outbox_rows}}
except all
select {{move_outbox_columns}}
from stored) as missing)
     + (select count(*) from stored) - cardinality($1::jsonb[])
