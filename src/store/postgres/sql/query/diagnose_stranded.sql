-- What the patrol healed within the last $1, by cause: how many, and the latest of them. The table keeps a thousand rows.
select s.cause, count(*), (array_agg(s.event_id order by s.at desc))[1], max(s.at)
from core.stranded s
where s.at >= now() - $1::interval
group by s.cause
order by s.cause
