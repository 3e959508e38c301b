-- Semantic models that were imported, as they came: what only their own format can say is exported again from here.
create table svc.semantic_document (
  tenant_id uuid not null references svc.tenant,
  format text not null check (format in ('ossie')),
  -- Of the semantic model in the document.
  name text not null,
  -- Rises by one with each import that changes it; the newest is used.
  number int not null check (number > 0),
  -- As text, because a reader of the format may tell apart what jsonb does not.
  document text not null check (length(document) <= 1048576),
  at timestamptz not null default clock_timestamp(),
  -- The Actor.
  actor jsonb not null,
  primary key (tenant_id, format, name, number)
);
alter table svc.semantic_document enable row level security, force row level security;
create policy own_tenant on svc.semantic_document using (tenant_id = svc.current_tenant());
grant select, insert on svc.semantic_document to svc_tenant;
create trigger append_only before update or delete or truncate on svc.semantic_document
  for each statement execute function svc.refuse_change();
