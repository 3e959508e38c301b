-- Access by a contract's review plan: at once and reviewed afterwards, and as the renewal of a grant.

alter table svc.access_request drop constraint access_request_state_check,
  add check (state in ('waiting', 'granted', 'denied', 'withdrawn', 'expired', 'to_review', 'confirmed', 'condemned')),
  -- Whether access was taken at once, and a steward reviews it afterwards.
  add column break_glass boolean not null default false,
  -- The grant that it would renew.
  add column renews uuid,
  -- When somebody was last reminded that it waits for its review.
  add column reminded_at timestamptz,
  add check (break_glass or state not in ('to_review', 'confirmed', 'condemned'));
create index access_request_review on svc.access_request (tenant_id, requested_at) where state = 'to_review';
create index access_request_renews on svc.access_request (tenant_id, renews) where renews is not null;
create index access_grant_request on svc.access_grant (tenant_id, request_id);
grant update (reminded_at) on svc.access_request to svc_tenant;
