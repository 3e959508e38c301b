-- Edges of policies that are gone: a put of such a policy drew no edge of its own (control migration 0174). The
-- policy is to be put once more.
delete from {{graph}}."SCHEMA_GOVERNS" e where not exists (select from {{graph}}."Policy" p where p.id = e.start_id);
delete from {{graph}}."WRITE_GOVERNS" e where not exists (select from {{graph}}."Policy" p where p.id = e.start_id);
delete from {{graph}}."RETAINS" e where not exists (select from {{graph}}."RetentionPolicy" p where p.id = e.start_id);
