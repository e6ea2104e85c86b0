-- Lets somebody else carry it out.
select core.operation_release($1::uuid, $2::text)
