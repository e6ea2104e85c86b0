-- event_list for failed events only: walks outbox_failed, so that a long history costs nothing.
select {{event_columns}}
from outbox
where status = 'failed' and seq < :before_seq
{{event_filter}}
order by seq desc
limit :limit
