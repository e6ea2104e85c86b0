-- The number after the highest that was ever allocated.
select coalesce(max(generation), 0) + 1 from deployments
