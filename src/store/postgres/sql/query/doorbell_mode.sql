-- When an insert notifies.
select value from core.settings where key = 'doorbell'
