-- Finds when a contract was ended that came as a document without life cycle: no move says it.
create index contract_change_ended on svc.contract_change (tenant_id, (subject ->> 'contract'), at)
  where action = 'delete-contract-document';
