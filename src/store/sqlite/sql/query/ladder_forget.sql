-- What is too old, and what is from before the clock was set back.
delete from ladder_samples where hour < :oldest or hour > :newest
