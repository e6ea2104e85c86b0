-- A page of events, newest first by insert order (primary key).
select {{event_columns}}
from outbox
where seq < :before_seq
{{event_filter}}
order by seq desc
limit :limit
