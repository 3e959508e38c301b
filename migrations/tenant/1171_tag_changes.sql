-- What was known of tags before their changes had a table of their own: the record of contracts, and findings.
insert into svc.tag_change (tenant_id, at, action, tag_id, tag, table_id, namespace, table_name, column_name, source,
    actor, actor_sub)
  select c.tenant_id, c.at, case c.action when 'put-tag' then 'set' else 'removed' end, c.subject ->> 'tag', c.subject ->> 'tag',
    (select string_agg(level, chr(31) order by place)
      from jsonb_array_elements_text(c.subject #> '{table,namespace}') with ordinality levels (level, place))
      || chr(31) || (c.subject #>> '{table,name}'),
    c.subject #> '{table,namespace}', c.subject #>> '{table,name}', c.subject ->> 'column', 'person', c.actor, c.actor_sub
  from svc.contract_change c
  where c.tenant_id = '{{tenant}}' and c.action in ('put-tag', 'delete-tag') order by c.change_seq;

insert into svc.tag_change (tenant_id, at, action, tag_id, tag, table_id, namespace, table_name, column_name, source,
    evidence)
  select f.tenant_id, f.found_at, 'set', 'sensitive.' || f.class, 'sensitive.' || f.class, r.table_id, r.namespace, r.table_name,
    f.column_name, 'classifier', jsonb_build_object('finding', f.finding_id)
  from {{graph}}."TAGGED" e
  join lateral (select f.* from svc.detection_finding f where f.tenant_id = '{{tenant}}'
    and to_jsonb(f.classification_id)::text::ag_catalog.agtype
      = ag_catalog.agtype_access_operator(variadic array[e.properties, '"id"'::ag_catalog.agtype])
    order by f.found_at desc limit 1) f on true
  join svc.detection_run r on r.tenant_id = f.tenant_id and r.run_id = f.run_id
  where r.table_id is not null;
