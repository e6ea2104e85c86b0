-- A page of events, oldest first by insert order (primary key).
select {{event_columns}}
from outbox
where seq > :after_seq
{{event_filter}}
order by seq
limit :limit
