-- Makes room for a slice of `sluice move`.
delete from core.event_handled where handled_at >= ($1::text || ':00Z')::timestamptz and handled_at < ($1::text || ':00Z')::timestamptz + interval '1 minute'
