-- Who sees the samples of findings, of which the ends of values are shown: stewards, or nobody.
alter table svc.read_setting add column finding_samples text not null default 'stewards'
  check (finding_samples in ('stewards', 'nobody'));
