-- What an EventFilter asks of a group of failures.
(:event_type is null or event_type = :event_type)
    and (:type_prefix is null or substr(event_type, 1, length(:type_prefix)) = :type_prefix)
    and (:source is null or source = :source)
    and (:target is null or target = :target)
    and (:error_class is null or lower(failure_class) in (lower(:error_class), lower(:error_class) || 'error'))
    and (:fingerprint is null or fingerprint = :fingerprint)
