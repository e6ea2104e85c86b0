-- Remembers where the store has moved to.
insert into settings (key, value, description) values ('moved_to', :home, 'where this store has moved; every write is refused')
on conflict (key) do update set value = excluded.value
