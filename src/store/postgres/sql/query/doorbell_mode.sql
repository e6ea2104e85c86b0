-- When an insert rings.
select value from core.settings where key = 'doorbell'
