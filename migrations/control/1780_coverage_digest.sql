-- One digest of the coverage of contracts a day and tenant, whatever replica writes it (docs/webhooks.md). The subject is
-- the day.
create unique index event_coverage on svc.event (tenant_id, subject) where type = 'contracts.coverage';
