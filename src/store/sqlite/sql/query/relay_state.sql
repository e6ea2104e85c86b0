-- The switch of the relay, and the latest change of it.
select s.value, a.at, coalesce(a.actor, ''), coalesce(a.reason, '')
from settings as s
left join (select at, actor, reason from audit where action glob 'relay.*' order by id desc limit 1) as a
where s.key = 'relay'
