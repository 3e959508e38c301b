-- A grant whose time is over governs nothing, by its times. That the job writes its end down, which is then that time to the
-- instant, raises no version of the governance: readers would load again what they see already (docs/reference/access.md).

drop trigger governance_version on svc.access_grant;
create constraint trigger governance_version
  after insert on svc.access_grant
  deferrable initially deferred for each row execute function svc.raise_governance_version();
create constraint trigger governance_version_of_change
  after update of table_id, until_at, ended_at on svc.access_grant
  deferrable initially deferred for each row
  when (new.table_id <> old.table_id or new.until_at <> old.until_at or new.ended_at is null
    or new.ended_by is not null or new.ended_at <> new.until_at)
  execute function svc.raise_governance_version();
