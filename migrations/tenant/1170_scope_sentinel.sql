-- The sentinel of policies that are bound to namespaces and tags: on the root namespace, which is above every table,
-- and on the sentinel's tag. Each is loaded by the same path as the policies of that scope.
do $$
declare
  policy ag_catalog.graphid := svc.ensure_node('Policy', '', '{"sentinel": true}');
begin
  perform svc.ensure_edge('SCHEMA_GOVERNS', 'namespace', policy, svc.ensure_node('Namespace', '', '{"name": ""}'),
    '{"namespace": []}');
  perform svc.ensure_edge('SCHEMA_GOVERNS', 'tag', policy, svc.ensure_node('Tag', '', '{"sentinel": true}'),
    '{"tag": ""}');
end $$;
