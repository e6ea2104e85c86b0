-- Whether anybody can ever claim the events of a generation: it was allocated, or it is the default one, or somebody has
-- subscribed in it.
select exists (select 1 from deployments where generation = :generation)
    or :generation = (select coalesce(max(generation), 1) from deployments where state = 'live')
    or exists (select 1 from subscriptions where generation = :generation)
