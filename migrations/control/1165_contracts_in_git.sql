-- Contracts in Git: who keeps the document of a version outside the service; null where nobody said so.

alter table svc.contract_version add column managed_by text check (managed_by <> '');
