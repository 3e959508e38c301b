-- Attestations are decisions that nobody changes, and sign-offs are among them. The triggers fire for each row, as those
-- of the pins do.
do $$
declare
  label text;
begin
  foreach label in array array['Attestation', 'ATTESTS'] loop
    execute format('revoke delete, truncate on {{graph}}.%I from svc_tenant', label);
    execute format('create trigger append_only before update or delete on {{graph}}.%I
      for each row execute function svc.refuse_change()', label);
    execute format('create trigger append_only_whole before truncate on {{graph}}.%I
      for each statement execute function svc.refuse_change()', label);
  end loop;
end $$;

-- Those from before they were drawn.
select svc.project_sign_off(s.sign_off_seq) from svc.contract_sign_off s where s.tenant_id = '{{tenant}}'
  order by s.sign_off_seq;
