-- Notes on a group of failures are records of the audit; they are found by the fingerprint, with who acknowledged it.
--
-- For the operator: reads the audit once, in one transaction.

create index audit_group on audit (json_extract(detail, '$.fingerprint'), id)
  where action in ('note', 'acknowledge', 'unacknowledge');
