  -- What an EventFilter asks of a dead letter, besides its group and when it failed.
  and (:id is null or seq = (select seq from outbox where id = :id))
  and (:generation is null or generation = :generation)
  and (:workspace_id is null or workspace_id = :workspace_id)
  and (:ordering_key is null or ordering_key = :ordering_key)
  and (:text is null or instr(lower(last_error), lower(:text)))
  and (:trace_id is null or substr(trace_context, 4, 32) = :trace_id)
  and (:payload is null or payload_has_all(payload, :payload))
  and (:except is null or id not in (select value from json_each(:except)))
