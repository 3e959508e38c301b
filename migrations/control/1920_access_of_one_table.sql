-- A request and a grant are of one table, by the uuid that it had when access was asked for (docs/reference/access.md).

-- In lower case; null where no commit said it, and for what was asked for before it was recorded.
alter table svc.access_request add column table_uuid text;
alter table svc.access_grant add column table_uuid text;
