-- A finding is one row per column and class. What each run saw is its evidence, for the class or against it, which can be
-- taken back (docs/adr/0034).

create table svc.detection_evidence (
  tenant_id uuid not null,
  classification_id text not null check (octet_length(classification_id) <= 1024),
  run_id uuid not null,
  -- The last attempt of the run that judged the column so.
  attempt int not null,
  -- Ids under which findings were known while they were one per run.
  evidence_id uuid not null default gen_random_uuid(),
  -- The table by its UUID, so that its evidence is found when its files are gone; null where no later run can know it.
  owner text check (octet_length(owner) <= 1024),
  -- Whether it speaks for the class. If not, values were seen that are not of the class.
  holds boolean not null,
  -- Whether values were seen, or the name alone says it.
  seen boolean not null,
  shape text check (shape in ('name', 'value', 'name_and_value', 'value_in_text', 'name_and_value_in_text')),
  confidence numeric(3, 2) check (confidence in (0.55, 0.60, 0.65, 0.86, 0.88, 0.92)),
  matched int,
  sampled int,
  masked_sample text,
  found_at timestamptz not null default clock_timestamp(),
  -- The snapshots that added what was read. Empty: it is never known to be gone.
  snapshot_ids text[] not null default '{}',
  -- Since when no branch and no tag holds a file of these snapshots, and when that was last looked at.
  gone_since timestamptz,
  gone_checked_at timestamptz,
  -- The time of the snapshot by which it was gone first, and whether no older one is left. Milliseconds since 1970.
  gone_snapshot_ms bigint,
  gone_expired boolean not null default false,
  -- The age of the metadata file by which it was last looked at: an older one says nothing more.
  judged_as_of_ms bigint,
  primary key (tenant_id, classification_id, run_id),
  unique (tenant_id, evidence_id),
  foreign key (tenant_id, run_id) references svc.detection_run,
  check (seen or holds),
  check (holds = (shape is not null and confidence is not null and matched is not null and sampled is not null))
);
create index detection_evidence_run on svc.detection_evidence (tenant_id, run_id);
create index detection_evidence_owner on svc.detection_evidence (tenant_id, owner) where seen;
create index detection_evidence_latest on svc.detection_evidence (tenant_id, classification_id, found_at desc);
alter table svc.detection_evidence enable row level security, force row level security;
create policy own_tenant on svc.detection_evidence using (tenant_id = svc.current_tenant());
grant select, insert, update on svc.detection_evidence to svc_tenant;

alter table svc.detection_evidence no force row level security;
alter table svc.detection_finding no force row level security;
alter table svc.detection_run no force row level security;
insert into svc.detection_evidence (tenant_id, classification_id, run_id, attempt, evidence_id, owner, holds, seen, shape,
    confidence, matched, sampled, masked_sample, found_at, snapshot_ids)
  select f.tenant_id, f.classification_id, f.run_id, f.attempt, f.finding_id, split_part(f.classification_id, chr(31), 1), true,
    f.shape <> 'name' or f.sampled > 0, f.shape, f.confidence, f.matched, f.sampled, f.masked_sample, f.found_at,
    array(select jsonb_array_elements_text(case when jsonb_typeof(r.report -> 'snapshotIds') = 'array'
      then r.report -> 'snapshotIds' else '[]' end))
  from svc.detection_finding f join svc.detection_run r using (tenant_id, run_id);

-- A decision names a finding by whatever id it had.
alter table svc.detection_decision drop constraint detection_decision_tenant_id_finding_id_fkey;
alter table svc.detection_finding add column first_found_at timestamptz not null default clock_timestamp(),
  -- When the tag was last taken away because nothing stood for it any more, and why.
  add column withdrawn_at timestamptz,
  add column withdrawn_why text check (withdrawn_why in ('refuted', 'gone')),
  -- When to look again whether anything stands for it; null while something does.
  add column withdraw_due timestamptz,
  -- Why the tag stays although nothing stands for it any more.
  add column withdraw_held text check (withdraw_held in ('sign-off')),
  drop constraint detection_finding_status_check,
  add constraint detection_finding_status_check check (status in ('open', 'confirmed', 'rejected', 'exempt', 'withdrawn'));
update svc.detection_finding f set first_found_at = x.first
  from (select tenant_id, classification_id, min(found_at) as first from svc.detection_finding group by 1, 2) x
  where x.tenant_id = f.tenant_id and x.classification_id = f.classification_id;
delete from svc.detection_finding f using svc.detection_finding later
  where later.tenant_id = f.tenant_id and later.classification_id = f.classification_id
    and (later.found_at, later.finding_id) > (f.found_at, f.finding_id);
-- What stood latest was shown; now it is the strongest.
update svc.detection_finding f set shape = b.shape, confidence = b.confidence, matched = b.matched, sampled = b.sampled,
    masked_sample = b.masked_sample
  from (select distinct on (tenant_id, classification_id) * from svc.detection_evidence
    order by tenant_id, classification_id, confidence desc, found_at desc) b
  where b.tenant_id = f.tenant_id and b.classification_id = f.classification_id;
alter table svc.detection_evidence force row level security;
alter table svc.detection_finding force row level security;
alter table svc.detection_run force row level security;

alter table svc.detection_finding drop constraint detection_finding_tenant_id_run_id_classification_id_key,
  add constraint detection_finding_classified unique (tenant_id, classification_id);
drop index svc.detection_finding_classification;
-- The findings of a table are looked up by its runs.
create index detection_finding_run on svc.detection_finding (tenant_id, run_id);
create index detection_finding_due on svc.detection_finding (withdraw_due) where withdraw_due is not null;
create policy administration on svc.detection_finding for select to svc_admin using (true);
grant select (tenant_id, withdraw_due) on svc.detection_finding to svc_admin;
grant update (run_id, withdrawn_at, withdrawn_why, withdraw_due, withdraw_held) on svc.detection_finding to svc_tenant;

-- Whether a tag falls whose values are gone: never, once no older snapshot is listed either, or once no branch and no tag
-- of the table has them; and after how many days.
alter table svc.read_setting add column withdraw_gone text not null default 'history'
    check (withdraw_gone in ('never', 'history', 'current')),
  add column withdraw_days int not null default 7 check (withdraw_days between 0 and 3650);
