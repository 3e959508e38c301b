-- The secrets key turns (docs/operations.md): two keys open at once, and every stored value is sealed again.

alter table svc.secrets_key_check
  -- The same text, sealed by the next key: since a replica first had it.
  add column next_sealed bytea,
  -- Since when the next key seals. Null: it does not yet.
  add column turning_since timestamptz,
  -- Since when the present key seals, as far as the database can say.
  add column in_force_at timestamptz not null default clock_timestamp(),
  add check (turning_since is null or next_sealed is not null);

-- What sessions and plans are derived from, sealed by the secrets key. It stays the same where that turns.
create table svc.derivation_root (
  purpose text primary key check (purpose in ('sessions', 'plans')),
  sealed bytea not null,
  created_at timestamptz not null default clock_timestamp()
);
alter table svc.derivation_root enable row level security, force row level security;
create policy administration on svc.derivation_root to svc_admin using (true);
grant select, insert, update, delete on svc.derivation_root to svc_admin;

-- A value that is sealed again is the same, so that it ends no cursor or stream.
drop trigger governance_version on svc.catalog_credential;
create constraint trigger governance_version
  after insert or delete or update of tenant_id, credential_id, nickname, catalog_kind, endpoint, config, version
  on svc.catalog_credential
  deferrable initially deferred for each row execute function svc.raise_governance_version();

grant update (sealed) on svc.signing_key to svc_admin;
grant update (id_token) on svc.browser_session to svc_admin;
grant select (sealed), update (sealed) on svc.webhook_subscription to svc_admin;
create policy administration on svc.transform_tenant_key to svc_admin using (true);
grant select (tenant_id, provider, wrapped), update (wrapped) on svc.transform_tenant_key to svc_admin;
create policy administration on svc.detection_set_aside to svc_admin using (true);
grant select (tenant_id, message_id, sealed), update (sealed) on svc.detection_set_aside to svc_admin;
