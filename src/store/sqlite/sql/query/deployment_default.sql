-- The newest live generation, else the first.
select coalesce(max(generation), 1) from deployments where state = 'live'
