-- Adds or replaces what a configuration declares of its sinks; see core.sink_declare.
select core.sink_declare($1::text[], $2::text[], $3::text[], $4::text::jsonb)
