-- Whom any row filter or column mask restricts is asked by commits: each set of exempt roles once, from these indexes.
create index "RowFilter_exempt_roles" on {{graph}}."RowFilter"
  (ag_catalog.agtype_access_operator(variadic array[properties, '"exempt_roles"'::ag_catalog.agtype]));
create index "ColumnMask_exempt_roles" on {{graph}}."ColumnMask"
  (ag_catalog.agtype_access_operator(variadic array[properties, '"exempt_roles"'::ag_catalog.agtype]));
