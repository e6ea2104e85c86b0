-- The next state of a generation; the code has checked that the move is legal.
update deployments
set state = :state, changed_by = :changed_by,
    activated_at = case when :state = 'live' then :now else activated_at end,
    draining_at = case :state when 'draining' then :now when 'live' then null else draining_at end,
    retired_at = case when :state = 'retired' then :now else retired_at end
where generation = :generation
