-- Raw reads of the Iceberg surface among the usage records: a load of a table, credentials, a plan or signatures, given to
-- a principal from whom nothing of the table is hidden. Reads of one session, table and kind within a minute are one record.
-- Null on other surfaces.
alter table svc.query_usage
  add column session_id uuid,
  add column given text check (given in ('load', 'credentials', 'plan', 'sign')),
  add column given_times bigint check (given_times > 0),
  add column last_at timestamptz,
  -- 'none': the table had no filter and no mask. 'exempt': it had, and a role of the principal exempts from all of them.
  -- 'told': they apply, and a trusted engine was told to apply them.
  add column protection text check (protection in ('none', 'exempt', 'told')),
  add check ((given is null) = (given_times is null) and (given is null) = (protection is null));
