-- What each job measured in its last run, whichever replica ran it, so that every replica shows it. A value is the
-- sum over all tenants.
create table svc.job_gauge (
  job text primary key,
  value double precision not null,
  measured_at timestamptz not null default clock_timestamp()
);
alter table svc.job_gauge enable row level security, force row level security;
create policy job_gauge_admin on svc.job_gauge to svc_admin using (true) with check (true);
grant select, insert, update on svc.job_gauge to svc_admin;
