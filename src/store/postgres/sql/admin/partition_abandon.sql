-- Back to where nothing was begun: the constraint, and the tables that were to become partitions, which are empty.
alter table core.outbox drop constraint if exists outbox_month;
do $$
declare
    v_name text;
begin
    for v_name in
        select c.relname from pg_class c
        where c.relnamespace = 'core'::regnamespace and c.relkind = 'r' and not c.relispartition and c.relname ~ '^outbox_(\d{4}_\d\d|default)$'
    loop
        execute format('drop table core.%I', v_name);
    end loop;
end
$$;
