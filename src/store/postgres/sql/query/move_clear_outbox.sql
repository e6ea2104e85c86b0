-- Makes room for a slice of 2,000 numbers of `sluice move` that an earlier pass had brought. The generations are hopped over;
-- index outbox_scan, once for each.
{{move_generations}}
delete from core.outbox d
where d.id in (
    select o.id from part p, lateral (
        select o.id from core.outbox o
        where o.generation = p.generation and o.seq > $1::bigint * 2000 and o.seq <= ($1::bigint + 1) * 2000
        order by o.seq limit 2000) o)
