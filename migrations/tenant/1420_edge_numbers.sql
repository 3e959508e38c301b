-- The comparison with the audit log finds new edges by their numbers. Blocks of a table do not show what is new, because
-- space that became free is used again.
create unique index if not exists "INTENDED_WRITE_id" on {{graph}}."INTENDED_WRITE" (id);
create unique index if not exists "ACTUAL_WRITE_id" on {{graph}}."ACTUAL_WRITE" (id);
