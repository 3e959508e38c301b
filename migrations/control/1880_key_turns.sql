-- Two more keys turn (docs/operations.md): the root of plans, and the secret of a service session.

-- The next root of plans lies beside the present one, until nothing that the present one made counts any more.
alter table svc.derivation_root drop constraint derivation_root_purpose_check;
alter table svc.derivation_root
  add check (purpose in ('sessions', 'plans', 'plans-next')),
  -- From when on the next root makes what is new: once every replica has read it. Null for the others.
  add column makes_from timestamptz,
  add check ((purpose = 'plans-next') = (makes_from is not null)),
  -- Since when the present root is. Null: since it was made.
  add column turned_at timestamptz;

-- Since when a session has its present secret. Null: since it was made.
alter table svc.service_session add column secret_turned_at timestamptz;
grant select (secret_turned_at), update (secret_sha256, scram_verifier, secret_turned_at)
  on svc.service_session to svc_tenant;
-- Ages are measured over all tenants, which svc_admin may read already.
