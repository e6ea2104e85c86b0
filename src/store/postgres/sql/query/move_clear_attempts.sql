-- Makes room for a slice of `sluice move`.
delete from core.attempts where recorded_at >= ($1::text || ':00Z')::timestamptz and recorded_at < ($1::text || ':00Z')::timestamptz + interval '1 minute'
