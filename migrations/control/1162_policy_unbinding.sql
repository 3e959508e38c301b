-- Whether the row says that the policy is no longer bound to what it names; it still governs the rest.
alter table svc.policy_history add column unbinds boolean not null default false;
