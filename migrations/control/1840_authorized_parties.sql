-- The clients whose tokens an issuer's trust takes, by the claim `azp` (docs/reference/identity.md 3.3). Null: any.
alter table svc.token_issuer add column authorized_parties jsonb
  check (jsonb_typeof(authorized_parties) = 'array' and authorized_parties <> '[]');
