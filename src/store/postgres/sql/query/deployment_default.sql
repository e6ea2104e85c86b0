-- The newest live generation, else 1.
select core.default_generation()
