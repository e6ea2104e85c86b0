-- What is too old, and what is from before the clock was set back.
delete from delivery_history where hourly = :hourly and (at < :oldest or at > :newest)
