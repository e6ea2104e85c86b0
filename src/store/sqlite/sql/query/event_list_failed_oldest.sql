-- event_list_oldest for failed events only: walks outbox_failed.
select {{event_columns}}
from outbox
where status = 'failed' and seq > :after_seq
{{event_filter}}
order by seq
limit :limit
