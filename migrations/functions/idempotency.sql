-- Requests that carry an Idempotency-Key. A key is claimed in the transaction that opens the intent, so a claim without an
-- intent and without a verdict is of a request that changed nothing, and the next request takes it.

-- What is known of an earlier request with a key. Between two tables of a transaction that is not atomic, neither intent nor
-- verdict shows that it goes on, so until the lease of its claim has ended it is open.
-- @returns null where it changed nothing, or its lifetime is over
create or replace function svc.told_of_key(tenant uuid, known svc.idempotency_key, sha256 text) returns jsonb
language plpgsql stable as $$
declare
  decisions jsonb;
  tables int := cardinality(known.commit_ids);
begin
  if known.claimed_at <= clock_timestamp() - interval '24 hours' then return null; end if;
  if known.request_sha256 <> sha256 then return '{"state": "other"}'; end if;
  if known.refusal is not null then
    return jsonb_build_object('state', 'refused', 'refusal', known.refusal);
  end if;
  if exists (select from svc.commit_intent i
      where i.tenant_id = told_of_key.tenant and i.commit_id = any(known.commit_ids)) then
    return '{"state": "open"}';
  end if;
  select jsonb_agg(jsonb_build_object('commitId', a.commit_id, 'decision', a.decision, 'reason', a.reason,
      'namespace', a.namespace, 'name', a.table_name) order by a.commit_id) into decisions
    from svc.audit_log a
    where a.tenant_id = told_of_key.tenant and a.commit_id = any(known.commit_ids)
      and a.received_at > known.claimed_at - interval '1 day';
  if decisions is null then return null; end if;
  if jsonb_array_length(decisions) < tables and not decisions @> '[{"decision": "REJECTED"}]'
      and known.claimed_at > clock_timestamp() - interval '2 minutes' then
    return '{"state": "open"}';
  end if;
  return jsonb_build_object('state', 'decided', 'tables', tables, 'decisions', decisions);
end $$;

-- Claims a key for a request, within its lifetime.
-- @returns null where the request is the first that has it, or the same one; else what is known of the first
create or replace function svc.claim_key(tenant uuid, claim jsonb) returns jsonb
language plpgsql as $$
declare
  this_key uuid := (claim ->> 'key')::uuid;
  own uuid[] := array(select jsonb_array_elements_text(claim -> 'commits')::uuid);
  known svc.idempotency_key;
  told jsonb;
begin
  insert into svc.idempotency_key (tenant_id, key, request_sha256, commit_ids)
    values (tenant, this_key, claim ->> 'sha256', own)
    on conflict on constraint idempotency_key_pkey do nothing;
  if found then return null; end if;
  select * into known from svc.idempotency_key k
    where k.tenant_id = claim_key.tenant and k.key = this_key for update;
  if not found then return svc.claim_key(tenant, claim); end if;
  if known.commit_ids = own then return null; end if;
  told := svc.told_of_key(tenant, known, claim ->> 'sha256');
  if told is not null then return told; end if;
  -- What the first sending did not make may be repeated for as long as if it were the first.
  update svc.idempotency_key k
    set request_sha256 = claim ->> 'sha256', commit_ids = own, refusal = null, claimed_at = clock_timestamp()
    where k.tenant_id = claim_key.tenant and k.key = this_key;
  return null;
end $$;

-- svc.open_intent for a request with a key. Nothing is opened where its key is known.
create or replace function svc.open_keyed_intent(tenant uuid, commit_id uuid, table_id text, intent text, body bytea,
  lease_ms float8, upstream_ms float8, out known text)
language plpgsql as $$
declare
  entered boolean := svc.enter(tenant);
begin
  known := svc.claim_key($1, $4::jsonb -> 'claim');
  if known is null then perform svc.open_intent($1, $2, $3, $4, $5, $6, $7); end if;
end $$;

-- svc.begin_commit for a request with a key.
create or replace function svc.begin_keyed_commit(digest bytea, session_id uuid, prefix text, fingerprint text, table_id text,
  commit_id uuid, intent text, body bytea, lease_ms float8, upstream_ms float8, ancestors text, namespaces text)
returns table (governance text, territory text, known text)
language plpgsql as $$
declare
  tenant uuid;
begin
  select b.governance, b.territory into governance, territory
    from svc.begin_commit($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) b;
  if not found then return; end if;
  tenant := svc.current_tenant();
  known := svc.claim_key(tenant, $7::jsonb -> 'claim');
  if known is not null then
    delete from svc.commit_intent i where i.tenant_id = tenant and i.commit_id = $6;
  end if;
  return next;
end $$;

-- Keeps the refusal of a request with a key, which left neither an intent nor a verdict; null keeps none.
-- @returns what is known of an earlier request with the key; then nothing is kept
create or replace function svc.refuse_key(tenant uuid, claim text, refusal text, out known text)
language plpgsql as $$
declare
  entered boolean := svc.enter(tenant);
  row svc.idempotency_key;
begin
  if refusal is not null then
    known := svc.claim_key($1, $2::jsonb);
    if known is null then
      update svc.idempotency_key k set refusal = $3::jsonb
        where k.tenant_id = $1 and k.key = ($2::jsonb ->> 'key')::uuid;
    end if;
    return;
  end if;
  select * into row from svc.idempotency_key k
    where k.tenant_id = $1 and k.key = ($2::jsonb ->> 'key')::uuid;
  if found and row.commit_ids <> array(select jsonb_array_elements_text($2::jsonb -> 'commits')::uuid) then
    known := svc.told_of_key($1, row, $2::jsonb ->> 'sha256');
  end if;
end $$;

revoke all on function svc.told_of_key, svc.claim_key, svc.open_keyed_intent, svc.begin_keyed_commit, svc.refuse_key from public;
grant execute on function svc.told_of_key, svc.claim_key, svc.open_keyed_intent, svc.begin_keyed_commit, svc.refuse_key to svc_tenant;
