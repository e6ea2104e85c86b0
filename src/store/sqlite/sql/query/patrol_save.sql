-- Takes or renews the patrol's lease and remembers where the walk goes on.
update patrol
set holder = :holder, lease_until = :lease_until, part = :part, place = :place, place_generation = :generation,
    place_blocked = :blocked, place_seq = :seq
where one = 1
