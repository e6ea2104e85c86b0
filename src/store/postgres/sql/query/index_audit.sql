-- That a search index is made or dropped.
insert into core.audit (actor, surface, action, reason, detail)
values ($1::text, $2::text, case when $4::boolean then 'index.drop' else 'index.create' end, $3::text, jsonb_build_object('index', $5::text))
