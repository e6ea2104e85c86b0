-- The store's clock.
select clock_timestamp()
