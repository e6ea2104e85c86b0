-- Takes or renews the lease; changes nothing while somebody else holds it.
update operations
set executor = :executor, lease_until = :lease_until
where id = :id and (lease_until is null or lease_until <= :now or executor = :executor)
