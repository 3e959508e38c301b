/** Functions that BI tools write and that Trino has no equal of, at their edges. */

export const biFunctions: readonly string[] = [
  `SELECT overlay('Txxxxas' placing 'hom' from 2 for 4), overlay(status placing 'XX' from 2), overlay(status placing '' from 1 for 100), overlay('abc' placing 'Z' from 3 for -1) FROM orders`,
  `SELECT format('%s: %s%% of %s', status, quantity, region), format('%2$s-%1$s', id, status), format('%s', NULL::text), format('%s', priority) FROM orders`,
  `SELECT regexp_split_to_array('a1b22c', '[0-9]+'), regexp_split_to_array(status, 'A', 'i'), regexp_split_to_array('', ','), regexp_split_to_array(',a,', ',') FROM orders`,
  `SELECT pg_catalog.lower(status), pg_catalog.count(*), pg_catalog.upper('x') FROM orders GROUP BY 1`,
  `SELECT 'today'::date = current_date, date 'tomorrow' - date 'yesterday', 'now'::timestamp IS NOT NULL, 'today'::timestamp = current_date, timestamptz 'today' <= now()`,
  `SELECT id FROM orders WHERE created_at < 'today'::timestamp AND ordered_on < 'now'::date`,
  `SELECT age(timestamp '2020-01-01') > interval '4 years', age(timestamptz '2020-01-01') > interval '4 years', age(ordered_on) > interval '1 year' FROM orders`,
  `SELECT make_interval(1,2,3,4,5,6,7.5), make_interval(days => 10), make_interval(secs => 1.5, hours => 2), make_interval(0, 0, 0, quantity) FROM orders`,
  `SELECT id FROM orders WHERE ordered_on > date '2024-03-20' - make_interval(days => 10)`,
  `SELECT clock_timestamp() >= now(), gen_random_uuid() <> gen_random_uuid()`,
  `SELECT any_value(region), count(*) FROM orders GROUP BY region`,
  `SELECT percentile_cont(ARRAY[0.25, 0.5, 0.75]) WITHIN GROUP (ORDER BY quantity), percentile_disc(ARRAY[0.1,0.9]) WITHIN GROUP (ORDER BY ordered_on) FROM orders`,
  `SELECT percentile_cont('{0.5,0.9}'::float8[]) WITHIN GROUP (ORDER BY amount) FROM orders`,
  `SELECT json_build_object('id', id, 'amount', amount, 'd', ordered_on, 'at', created_at, 'z', shipped_at, 'p', priority, 's', status, 'f', discount, 'n', NULL) FROM orders`,
  `SELECT jsonb_build_object('a', json_build_object('b', 1), 'c', '{"x":1}'::jsonb)`,
  `SELECT region, json_agg(id ORDER BY id), json_agg(status ORDER BY id), jsonb_agg(created_at ORDER BY id), json_agg(amount ORDER BY id) FROM orders GROUP BY region`,
  `SELECT json_agg(json_build_object('id', id, 'name', name) ORDER BY id) FROM customers`,
  `SELECT json_agg(id) FROM orders WHERE id < 0`,
  `SELECT region, json_agg(DISTINCT status) FILTER (WHERE status = 'paid') FROM orders GROUP BY region`,
]

export const biFaults: readonly string[] = [
  `SELECT overlay('abc' placing 'Z' from 0)`,
  `SELECT format('%s %s', 1)`,
]
