-- Which tool of the Model Context Protocol a query was asked by, and what the client calls itself. The name is text by a
-- stranger. Null on other surfaces.
alter table svc.query_usage add column tool text check (length(tool) <= 64);
alter table svc.query_usage add column client text check (length(client) <= 64);

-- What a principal's agents have scanned within a day is asked before each of their queries.
create index query_usage_mcp on svc.query_usage (tenant_id, md5(principal_sub), started_at) where surface = 'mcp';

-- It takes the two columns as well now.
drop function if exists svc.record_usage(uuid, uuid, float8, text, text, text, text, text, text, text, text, bigint, bigint,
  bigint, float8, float8, float8, text, text, text, boolean);
