-- Keeps a filter under its name, audited.
select f.name, f.filter, f.saved_by, f.saved_at from core.filter_save($1::text, $2::text, $3::text, $4::text, $5::text) f
