-- The switch of the relay, and the latest change of it. The audit is read from its end: primary key.
select s.value, coalesce(a.at, 'epoch'), coalesce(a.actor, ''), coalesce(a.reason, '')
from core.settings s
left join lateral (select a.at, a.actor, a.reason from core.audit a where a.action like 'relay.%' order by a.id desc limit 1) a on true
where s.key = 'relay'
