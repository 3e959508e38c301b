-- Keys of subjects (docs/reference/transform.md 9). `ref` tells the subjects of a kind apart and names nobody; `sid` is the
-- id of the key that encrypted values name. Erasing a subject empties its key for good; the row remains, so that nothing
-- more is written of it.

create table svc.transform_subject_key (
  tenant_id uuid not null references svc.tenant,
  kind text not null check (kind <> ''),
  ref text not null check (length(ref) = 22),
  sid text check (length(sid) = 22),
  wrapped bytea,
  at timestamptz not null default clock_timestamp(),
  shredded_at timestamptz,
  primary key (tenant_id, kind, ref),
  unique (tenant_id, sid),
  check ((shredded_at is null) = (sid is not null)),
  check ((shredded_at is null) = (wrapped is not null))
);
alter table svc.transform_subject_key enable row level security, force row level security;
create policy own_tenant on svc.transform_subject_key using (tenant_id = svc.current_tenant());
grant select, insert, update on svc.transform_subject_key to svc_tenant;
create trigger shredded_for_good before update on svc.transform_subject_key
  for each row when (old.shredded_at is not null) execute function svc.refuse_change();
