-- What was done with one event of the set, or became of it (primary key).
update operation_items set state = :state, cycle = :cycle where operation_id = :id and place = :place
