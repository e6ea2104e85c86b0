-- Who patrols, until when, and where the walk goes on.
select holder, lease_until, part, place, place_generation, place_blocked, place_seq from patrol where one = 1
