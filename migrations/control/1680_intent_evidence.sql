-- What recovery found out about an intent that it could not decide, for the person who settles it: the file that the
-- change may have written, and what speaks for it. A process ends its own lease when its request has ended.
alter table svc.commit_intent add column proposal jsonb;
grant update (lease_until, proposal) on svc.commit_intent to svc_tenant;
