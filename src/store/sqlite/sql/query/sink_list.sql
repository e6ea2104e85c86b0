-- The sinks, or one of them.
select name, kind, target, handlers, state, changed_at, changed_by, reason, opened_at, open_until, open_reason, declared_at
from sinks
where :name is null or name = :name
order by name
