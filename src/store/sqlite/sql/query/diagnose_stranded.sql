-- What the patrol healed since :since, by cause: how many, and the latest of them. At most a thousand rows.
select cause, count(*), event_id, max(at) from stranded where at >= :since group by cause order by cause
