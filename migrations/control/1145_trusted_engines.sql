-- Whether an administrator vouches that the engine behind a service session applies `read-restrictions`.
alter table svc.service_session add column trusted_engine boolean not null default false;
grant select (trusted_engine), update (trusted_engine) on svc.service_session to svc_tenant;
