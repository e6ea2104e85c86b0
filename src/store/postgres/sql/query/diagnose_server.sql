-- Who we are, on which server, and how much of it we may see.
select current_setting('server_version_num')::int, current_setting('server_version'), current_user::text,
       (select r.rolsuper from pg_roles r where r.rolname = current_user),
       pg_has_role('pg_read_all_stats', 'usage'), pg_is_in_recovery(), pg_backend_pid()
