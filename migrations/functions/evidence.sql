-- What stands for a finding: one row per column and class, made of the evidence of all runs (docs/adr/0034). Evidence by
-- values stands while a snapshot may hold them, and for a grace time after. Evidence by the name alone stands unless
-- values that were seen, and are there, are not of the class. A person's decision stands whatever the evidence is.

-- The runs whose evidence stands, the strongest first.
create or replace function svc.standing_evidence(wanted text) returns uuid[]
language plpgsql stable as $$
begin
  return array(select e.run_id from svc.detection_evidence e
    left join svc.read_setting s on s.tenant_id = e.tenant_id
    where e.tenant_id = svc.current_tenant() and e.classification_id = wanted and e.holds
      and case when e.seen then
        not coalesce(e.gone_checked_at >= e.gone_since + make_interval(days => coalesce(s.withdraw_days, 7))
          and case coalesce(s.withdraw_gone, 'history') when 'current' then true when 'history' then e.gone_expired else false end,
          false)
      else not exists (select from svc.detection_evidence r where r.tenant_id = e.tenant_id
        and r.classification_id = wanted and not r.holds and r.gone_since is null)
      end
    order by e.confidence desc, e.found_at desc, e.run_id);
end $$;

-- Sets a finding to the strongest evidence that stands, and draws it. Where none stands the tag stays, and the finding is
-- due: svc.withdraw_finding takes it, because a mask may end with it. Answers whether it is due now.
create or replace function svc.follow_evidence(wanted text) returns boolean
language plpgsql as $$
declare
  tenant uuid := svc.current_tenant();
  finding record;
  best record;
  latest record;
  standing uuid[];
  due timestamptz;
begin
  select f.status, f.withdraw_due into finding from svc.detection_finding f
    where f.tenant_id = tenant and f.classification_id = wanted for update;
  if not found then return false; end if;
  standing := svc.standing_evidence(wanted);
  if standing = '{}' then
    if finding.status = 'open' and finding.withdraw_due is null then
      update svc.detection_finding f set withdraw_due = clock_timestamp()
        where f.tenant_id = tenant and f.classification_id = wanted;
    end if;
    return finding.status = 'open';
  end if;
  select e.* into best from svc.detection_evidence e
    where e.tenant_id = tenant and e.classification_id = wanted and e.run_id = standing[1];
  select e.* into latest from svc.detection_evidence e
    where e.tenant_id = tenant and e.classification_id = wanted and e.holds order by e.found_at desc limit 1;
  -- Only what is gone stands for it: somebody looks once its time is over.
  select case when bool_and(e.seen and e.gone_since is not null) then
      max(e.gone_since + make_interval(days =>
        coalesce((select s.withdraw_days from svc.read_setting s where s.tenant_id = tenant), 7))) end
    into due from svc.detection_evidence e
    where e.tenant_id = tenant and e.classification_id = wanted and e.run_id = any(standing);
  update svc.detection_finding f set run_id = latest.run_id, attempt = latest.attempt, found_at = latest.found_at,
      shape = best.shape, confidence = best.confidence, matched = best.matched, sampled = best.sampled,
      masked_sample = best.masked_sample, withdraw_held = null,
      withdraw_due = case when due is null or f.status <> 'open' then null
        else coalesce(f.withdraw_due, greatest(due, clock_timestamp())) end,
      status = case f.status when 'withdrawn' then 'open' else f.status end
    where f.tenant_id = tenant and f.classification_id = wanted;
  perform svc.project_classification(wanted);
  return false;
end $$;

-- Takes the tag of a finding for which nothing stands, unless a person decided. Answers why, null where it stays.
create or replace function svc.withdraw_finding(wanted text) returns text
language plpgsql as $$
declare
  tenant uuid := svc.current_tenant();
  why text;
begin
  perform from svc.detection_finding f
    where f.tenant_id = tenant and f.classification_id = wanted and f.status = 'open' for update;
  if not found or svc.standing_evidence(wanted) <> '{}' then return null; end if;
  select case when bool_or(e.holds and e.seen) then 'gone' else 'refuted' end into why from svc.detection_evidence e
    where e.tenant_id = tenant and e.classification_id = wanted;
  update svc.detection_finding f set status = 'withdrawn', withdrawn_at = clock_timestamp(), withdrawn_why = why,
      withdraw_due = null, withdraw_held = null
    where f.tenant_id = tenant and f.classification_id = wanted;
  perform svc.project_classification(wanted);
  return why;
end $$;

revoke all on function svc.standing_evidence, svc.follow_evidence, svc.withdraw_finding from public;
grant execute on function svc.standing_evidence, svc.follow_evidence, svc.withdraw_finding to svc_tenant;
