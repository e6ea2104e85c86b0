-- The settings that mean the same in every store.
update core.settings s set value = r ->> 'value' from unnest($1::jsonb[]) as given(r) where s.key = r ->> 'key'
