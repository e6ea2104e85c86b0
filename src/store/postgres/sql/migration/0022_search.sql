-- Dead letters by a value of their payload and by trace id, in lists, counts, groups and plans of bulk changes. Functions only: runs
-- in milliseconds. The indexes that a search over all events needs are made by `sluice db index`, because every publish pays for them.

-- The rest of a filter, for a dead letter. `except` names events that are not meant: "all of these, except those three". What is
-- searched for comes last: it is read only where the others have left something.
create or replace function core.dead_matches(p_event core.outbox, p_filter jsonb) returns boolean
language sql stable parallel safe
as $$
    select (p_filter ->> 'id' is null or p_event.id = (p_filter ->> 'id')::uuid)
       and (p_filter ->> 'generation' is null or p_event.generation = (p_filter ->> 'generation')::bigint)
       and (p_filter ->> 'workspace_id' is null or p_event.workspace_id = (p_filter ->> 'workspace_id')::uuid)
       and (p_filter ->> 'ordering_key' is null or p_event.ordering_key = p_filter ->> 'ordering_key')
       and (p_filter ->> 'text' is null or strpos(lower(p_event.last_error), lower(p_filter ->> 'text')) > 0)
       and (p_filter ->> 'since' is null or p_event.failed_at >= (p_filter ->> 'since')::timestamptz)
       and (p_filter ->> 'until' is null or p_event.failed_at < (p_filter ->> 'until')::timestamptz)
       and (p_filter -> 'except' is null or not (p_filter -> 'except') ? p_event.id::text)
       and (p_filter ->> 'trace_id' is null or substr(p_event.trace_context, 4, 32) = p_filter ->> 'trace_id')
       and (p_filter ->> 'payload' is null or p_event.payload @@ (p_filter ->> 'payload')::jsonpath)
$$;
