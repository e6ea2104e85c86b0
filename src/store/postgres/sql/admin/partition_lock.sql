lock table core.outbox in access exclusive mode
