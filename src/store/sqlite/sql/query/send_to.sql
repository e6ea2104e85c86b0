-- Which handlers an event that was just made pending is for; what sent it to one of them goes into its history.
update outbox
set progress = :progress,
    failure_history = iif(:delivered_at is null, json_set(failure_history, '$[#-1].handler', :handler_name),
      json_set(failure_history, '$[#-1].handler', :handler_name, '$[#-1].failed_at', null, '$[#-1].delivered_at', :delivered_at))
where id = :id and status = 'pending'
