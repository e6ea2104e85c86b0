-- Does this executor hold the lease?
select 1 from operations where id = :id and executor = :executor and lease_until > :now
