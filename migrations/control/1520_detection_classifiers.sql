-- Custom classifiers of a tenant (docs/reference/detection.md 4.5).

create table svc.detection_classifier (
  tenant_id uuid not null references svc.tenant,
  -- Also the class of its findings.
  name text not null check (name ~ '^[a-z][a-z0-9_]{0,62}$'),
  definition jsonb not null,
  -- Raised with each change of the definition.
  revision int not null default 1 check (revision > 0),
  -- The last revision that was tried on a sample.
  tried_revision int,
  -- What counts in scans; null for a draft. A change of the definition does not change it until it is activated.
  active jsonb,
  active_revision int,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, name),
  check ((active is null) = (active_revision is null)),
  check (tried_revision <= revision and active_revision <= tried_revision)
);
alter table svc.detection_classifier enable row level security, force row level security;
create policy own_tenant on svc.detection_classifier using (tenant_id = svc.current_tenant());
grant select, insert, update, delete on svc.detection_classifier to svc_tenant;

-- The class is a built-in one or the name of a classifier.
alter table svc.detection_finding drop constraint detection_finding_class_check,
  add constraint detection_finding_class_check check (class ~ '^[a-z][a-z0-9_]{0,62}$');
