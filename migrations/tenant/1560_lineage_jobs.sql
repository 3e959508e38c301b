-- The runs of a job are looked up by both of its names apart: a condition that joins them serves no index under row-level
-- security, because joining may fail with an error that tells of a row.
drop index {{schema}}.lineage_inbox_job;
create index lineage_inbox_job on {{schema}}.lineage_inbox (md5(job_name), md5(job_namespace), event_seq desc);
