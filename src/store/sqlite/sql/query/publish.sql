-- Stores one event. An id that is there already changes nothing (unique index on id).
insert into outbox (id, event_type, event_version, occurred_at, source, target, content_class, channel, generation,
                    workspace_id, payload, idempotency_key, trace_context, retry_after, ordering_key, published_at)
values (:id, :event_type, :event_version, :occurred_at, :source, :target, :content_class,
        case when :channel = 'outbox_default' then 'outbox_gen_' || :generation else :channel end, :generation,
        :workspace_id, :payload, :idempotency_key, :trace_context, :retry_after, :ordering_key, :now)
on conflict (id) do nothing
