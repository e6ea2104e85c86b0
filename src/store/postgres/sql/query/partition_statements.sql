-- The statements of one step ($1) of `sluice ladder partition`, in order, for the month $2 and $3 months from there on.
select s.sql
from (select 'constrain' as step, 0::bigint as place,
             format('alter table core.outbox add constraint outbox_month check (occurred_at < %L) not valid',
                    to_char($2::timestamptz at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') || '+00') as sql
      union all
      select 'validate', 0, 'alter table core.outbox validate constraint outbox_month'
      union all
      select 'prepare', m,
             format('select core.partition_prepare(%L)', case when m = $3::int then 'outbox_default'
                    else 'outbox_' || to_char(($2::timestamptz at time zone 'UTC') + make_interval(months => m::int), 'YYYY_MM') end)
      from generate_series(0::bigint, $3::int) as m
      union all
      select 'swap', p.place, p.sql
      from core.partition_script(case when $1 = 'swap' then $2::timestamptz end, $3::int) with ordinality as p(sql, place)
      where $1 = 'swap') s
where s.step = $1::text
order by s.place
