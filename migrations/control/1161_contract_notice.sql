-- How long a deprecated version stays, and how long nobody must have read its tables, before it is retired.
alter table svc.contract_setting
  add column notice_days int not null default 30 check (notice_days between 0 and 3650),
  add column quiet_days int not null default 30 check (quiet_days between 0 and 3650);
