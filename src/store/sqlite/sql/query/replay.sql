-- failed -> pending in place, or delivered -> pending when it is sent again: what was goes into failure_history, which
-- keeps its first entry and the latest ones up to settings.failure_history_max. claim_seq is not reset. A channel composed
-- from the old generation follows the event to the new one. outbox_failure_end counts it.
update outbox
set status = 'pending', generation = :new_generation, retry_after = :now, attempts = 0,
    last_error = null, failure_class = null, fingerprint = null, first_failed_at = null,
    failed_at = null, group_id = null, claimed_at = null, claimed_by = null, delivered_at = null, progress = null, lane = '',
    channel = case
      when channel = 'outbox_gen_' || generation or channel glob 'outbox_gen_' || generation || '_*'
      then 'outbox_gen_' || :new_generation || substr(channel, length('outbox_gen_' || generation) + 1)
      else channel end,
    failure_history = (
      select json_group_array(json(value))
      from (
        select entry.key, entry.value, count(*) over () as entries
        from json_each(json_insert(failure_history, '$[#]', json_patch(json_object(
          'cycle', coalesce(json_extract(failure_history, '$[#-1].cycle'), 0) + 1,
          'attempts', attempts,
          'last_error', last_error,
          'first_failed_at', first_failed_at,
          'failed_at', claimed_at,
          'replayed_at', :now,
          'replayed_by', :replayed_by,
          'error_class', failure_class,
          'fingerprint', fingerprint,
          'from_generation', generation,
          'to_generation', :new_generation,
          'reason', :reason),
          iif(:operation_id is null, '{}', json_object('operation_id', :operation_id))))) as entry
        order by entry.key)
      where key = 0 or key > entries - max(2, coalesce(
        (select cast(settings.value as integer) from settings where settings.key = 'failure_history_max'), 50)))
where id = :id and status = :from and deleted_at is null
