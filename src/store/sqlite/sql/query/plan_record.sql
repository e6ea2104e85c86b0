-- A plan; same transaction as its set.
insert into operations (id, kind, state, filter, to_generation, rate, canary, stop_percent, total, actor, surface,
                        reason, planned_at, expires_at)
values (:id, :kind, 'planned', :filter, :to_generation, :rate, :canary, :stop_percent, :total, :actor, :surface,
        :reason, :now, :expires_at)
