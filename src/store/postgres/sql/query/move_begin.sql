-- From now on this database belongs to the move from that store.
insert into core.settings (key, value, description) values ('moving_from', $1::text, 'the store that `sluice move` copies from')
on conflict (key) do update set value = excluded.value
