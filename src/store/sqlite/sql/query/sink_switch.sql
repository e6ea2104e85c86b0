-- Another state; an active sink begins with a closed circuit.
update sinks
set state = :state, changed_at = :now, changed_by = :changed_by, reason = :reason,
    opened_at = case when :state = 'active' then null else opened_at end,
    open_until = case when :state = 'active' then null else open_until end,
    open_reason = case when :state = 'active' then '' else open_reason end
where name = :name
