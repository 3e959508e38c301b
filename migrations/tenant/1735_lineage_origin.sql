-- Through which session and with which client an event was sent, as the audit log has it of commits.
do $$
declare
  t text;
begin
  foreach t in array array['lineage_inbox', 'lineage_event'] loop
    execute format('alter table {{schema}}.%I add column origin jsonb', t);
  end loop;
end $$;
