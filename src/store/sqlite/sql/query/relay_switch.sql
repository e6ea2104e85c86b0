-- Who carries the deliveries from now on; with registry_change in one transaction.
update settings set value = :value where key = 'relay' and value <> :value
