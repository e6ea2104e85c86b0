-- How many rows the tables have that grow. Counts them all: for `sluice move`, while nobody works here.
select (select count(*) from core.outbox), (select count(*) from core.event_handled), (select count(*) from core.audit where action <> 'move'),
       (select count(*) from core.operations)
