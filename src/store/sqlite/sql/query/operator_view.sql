-- What an operator's command checks before it acts on an event.
select status, deleted_at is not null, attempts, generation,
       coalesce(json_extract(failure_history, '$[#-1].cycle'), 0) + 1
from outbox
where id = :id
