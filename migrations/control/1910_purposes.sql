-- The purpose that a session named when it read: text by its client. Null where it named none.
alter table svc.query_usage add column purpose text check (length(purpose) <= 200);

-- It takes the purpose as well now.
drop function if exists svc.record_usage(uuid, uuid, float8, text, text, text, text, text, text, text, text, bigint, bigint,
  bigint, float8, float8, float8, text, text, text, text, text, boolean);
