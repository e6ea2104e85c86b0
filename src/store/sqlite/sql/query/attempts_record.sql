-- Adds to the attempt log; in the transaction that settles. Of a consumer of a broker (claim_seq 0) not what is there already: its
-- report was committed and the answer lost. :attempts is a JSON array; unique index on id.
insert into attempts (event_id, number, claim_seq, replay, handler_name, worker, started_at, duration_us, outcome, status_code,
                      error, response, trace_id, recorded_at)
select outbox.id, coalesce((select max(number) from attempts where event_id = outbox.id), 0)
                  + row_number() over (partition by outbox.id order by given.key),
       given.value ->> 'claim_seq', coalesce(json_extract(failure_history, '$[#-1].cycle'), 0),
       nullif(given.value ->> 'handler_name', ''), given.value ->> 'worker', given.value ->> 'started_at',
       given.value ->> 'duration_us', given.value ->> 'outcome', nullif(given.value ->> 'status_code', 0),
       nullif(given.value ->> 'error', ''), nullif(given.value ->> 'response', ''),
       coalesce(nullif(given.value ->> 'trace_id', ''), substr(trace_context, 4, 32)), :now
from json_each(:attempts) as given cross join outbox on outbox.id = given.value ->> 'event_id'
where given.value ->> 'claim_seq' > 0 or not exists (
    select 1 from attempts as known
    where known.event_id = outbox.id and known.claim_seq = 0 and known.worker = given.value ->> 'worker'
      and known.handler_name = given.value ->> 'handler_name' and known.started_at = given.value ->> 'started_at')
