/** Single forms that tools write, with what PostgreSQL answers: rows and types, or one SQLSTATE. */

export const singleForms: readonly string[] = [
  `select jsonb_set('{"a":{"b":1}}'::jsonb, '{a,b}', '2'), jsonb_set(payload::jsonb, '{x}', '"n"'::jsonb) -> 'x' from orders`,
  `select jsonb_set(payload::jsonb, '{k,x}', '{"n": [1, null]}') -> 'k' from orders where payload like '{%'`,
  `select jsonb_set(payload::jsonb, '{list,0}', 'true') -> 'list', jsonb_set(payload::jsonb, '{list,-1}', 'null') -> 'list' from orders where payload like '{%'`,
  `select jsonb_set('[0,1,2]'::jsonb, '{7}', '9'), jsonb_set('[0,1,2]'::jsonb, '{-7}', '9'), jsonb_set('[0,1,2]'::jsonb, '{7}', '9', false)`,
  `select jsonb_set('{"a":1}'::jsonb, '{b}', '9', false), jsonb_set('{"a":1}'::jsonb, '{b,c}', '9'), jsonb_set('{"a":1}'::jsonb, '{a,c}', '9')`,
  `select jsonb_set('{"a":1}'::jsonb, '{}', '9'), jsonb_set('{"a":[1,{"b":2}]}'::jsonb, '{a,1,b}', '[]'), jsonb_set(null, '{a}', '9'), jsonb_set('{}', '{a}', null)`,
  `select jsonb_set('[5]'::jsonb, '{0,a}', '9'), jsonb_set('{}'::jsonb, '{"it''s \\"q\\""}', '9'), jsonb_set('{"{0}":1}'::jsonb, '{"{0}"}', '"{2}"')`,
  `select jsonb_set(to_jsonb(o), array['status'], to_jsonb(o.id)) from (select id, status from orders) o`,
  `select jsonb_set('{"a":{"b":{"c":{"d":{"e":1}}}}}'::jsonb, '{a,b,c,d,e}', '2') -> 'a'`,
  `select row(1, 'a b')::text, length(row(id, status)::text) from orders where row(id, status)::text like '(1,%' order by row(id)::text`,
  `select (1, null, 'a b', 'q"q', 'x,y', '', true, 1.50::numeric(6,2), date '2024-01-01', '\\x', '(', null::int, row('é', row(false)))::text`,
  `select row(shipped_at, created_at, tags, amount, discount, interval '1 day')::text from orders`,
  `select '-0'::float8, '-0'::float4, '-0'::float8::text, '-0.0e5'::float8 = 0, -(0::float8), 0::float8 * -1, round('-0.4'::float8)`,
  `select x > 'Infinity', x = 'NaN', x <> 'NaN', x < 1, x between 1 and 'NaN', x is distinct from 'NaN', x in (1, 'NaN') from (values ('NaN'::float8), ('NaN'::float4), (2)) t(x)`,
  `select count(distinct x), count(*) filter (where x = 'NaN'), max(x), min(x) from (values ('NaN'::float8), ('NaN'), ('-0'), (0)) t(x)`,
  `select x, rank() over (order by x desc), lag(x) over (order by x) from (values ('NaN'::float8), (1), ('-Infinity')) t(x)`,
  `select a.x from (values ('NaN'::float8)) a(x) join (values ('NaN'::float8)) b(x) on a.x = b.x`,
]

/** Statements that fail. */
export const failingForms: readonly string[] = [
  `select jsonb_set('5'::jsonb, '{a}', '9')`,
  `select jsonb_set('[5]'::jsonb, '{a}', '9')`,
  `select '1e400'::float8`,
  `select '1e-400'::float8`,
  `select '1e39'::float4`,
  `select '1e-50'::float4`,
]
