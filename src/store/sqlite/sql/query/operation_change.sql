-- Another state or rate; the code has checked that it may.
update operations
set state = :state, rate = :rate, note = :note, ended_at = :ended_at
where id = :id
