-- One edge for each column that a classification is about, not one for each classification: a table that got another name
-- has each column once more. The tag of a column under a second name was not drawn.
do $$
declare
  label text;
begin
  foreach label in array array['CLASSIFIED_AS', 'TAGGED'] loop
    execute format($edge$
      update {{graph}}.%I e
        set properties = e.properties operator(ag_catalog.||) jsonb_build_object('id',
          encode(sha256(convert_to(f.classification_id || chr(31) || (c.properties::text::jsonb ->> 'id'), 'UTF8')), 'hex')
          )::text::ag_catalog.agtype
        from svc.detection_finding f, {{graph}}."Column" c
        where f.tenant_id = '{{tenant}}' and c.id = e.start_id
          and ag_catalog.agtype_access_operator(variadic array[e.properties, '"id"'::ag_catalog.agtype])
            = to_jsonb(f.classification_id)::text::ag_catalog.agtype$edge$, label);
  end loop;
end $$;
