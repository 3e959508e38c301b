-- Keeps the spellings of tables and namespaces that are not in lower case (svc.spelling), and those that there are.
do $$
declare
  label text;
begin
  foreach label in array array['Table', 'Namespace'] loop
    execute format('create trigger spelling after insert on {{graph}}.%I
      for each row execute function svc.note_spelling()', label);
    execute format('insert into svc.spelling (tenant_id, folded, id)
      select ''{{tenant}}'', lower(j ->> ''id''), j ->> ''id'' from (select properties::text::jsonb as j from {{graph}}.%I) n
        where j ->> ''id'' <> lower(j ->> ''id'')
      on conflict do nothing', label);
  end loop;
end $$;
