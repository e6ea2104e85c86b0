-- Opens the circuit of a sink, or closes it (null).
update sinks
set opened_at = case when :open_until is null then null else coalesce(opened_at, :now) end,
    open_until = :open_until, open_reason = case when :open_until is null then '' else :reason end
where name = :name
