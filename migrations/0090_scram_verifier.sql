-- What SCRAM-SHA-256 checks a service session's secret by, where a client cannot send the secret itself.

alter table svc.service_session
  add column scram_verifier text check (scram_verifier ~ '^SCRAM-SHA-256\$\d+:');
