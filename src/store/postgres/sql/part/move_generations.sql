with recursive part (generation) as (
    select min(o.generation) from core.outbox o
    union all
    select (select min(o.generation) from core.outbox o where o.generation > p.generation)
    from part p where p.generation is not null)
