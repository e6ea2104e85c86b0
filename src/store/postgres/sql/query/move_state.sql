-- Which move this database is or was the target of, whether it holds anything, and whether workers are at work in it.
select (select s.value from core.settings s where s.key = 'moving_from'), (select s.value from core.settings s where s.key = 'moved_from'),
       exists (select from core.outbox) or exists (select from core.audit) or exists (select from core.event_handled)
       or exists (select from core.operations),
       exists (select from core.workers w where w.seen_at > now() - interval '1 minute')
