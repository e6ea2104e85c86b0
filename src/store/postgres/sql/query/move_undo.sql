-- Takes back move_finish: a move may go on, or begin again.
with claims as (
    delete from core.claims),
keys as (
    delete from core.keys_in_flight),
over as (
    delete from core.settings s where s.key = 'moved_from' returning s.value)
insert into core.settings (key, value, description)
select 'moving_from', o.value, 'the store that `sluice move` copies from' from over o
on conflict (key) do update set value = excluded.value
