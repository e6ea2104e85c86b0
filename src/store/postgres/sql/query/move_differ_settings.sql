-- How many settings are not as they were given.
select count(*) from unnest($1::jsonb[]) as given(r)
where not exists (select from core.settings s where s.key = r ->> 'key' and s.value = r ->> 'value')
