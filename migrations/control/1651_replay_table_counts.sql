-- How many changes of each outcome a replay found in each table, so that a reader is told those of tables that they see
-- whole. Keys are an outcome and a table's key, joined by U+001F. Replays that ended before have none.
alter table svc.policy_replay add column table_counts jsonb not null default '{}';
grant update (table_counts) on svc.policy_replay to svc_tenant;
