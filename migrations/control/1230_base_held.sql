-- How the table was held on which a commit was judged: loaded for it, or pinned by requirements of the commit. Null for
-- what changes no table that was there, and for commits of older versions.
alter table svc.audit_log add column base_held text
  constraint audit_log_base_held check (base_held in ('loaded', 'pinned'));
