/** What tools write and what was refused once. */

import { type CorpusQuery, of } from './query.ts'

export const firstDay: readonly CorpusQuery[] = [
  ...of('Metabase', [
    `SELECT COUNT(*), ("orders"."payload"::jsonb @> '{"s": "t"}'::jsonb) AS "m" FROM "sales"."orders" GROUP BY 2`,
  ]),
  ...of('Redash', [`SELECT json_object_agg(id, status) FROM sales.orders`]),
  ...of('Grafana', [`SELECT sum(age(shipped_at, created_at AT TIME ZONE 'UTC')) FROM sales.orders`]),
  ...of('Qlik', [`SELECT justify_days(interval '35 days') AS "J"`]),
  ...of('Django', [`SELECT "orders"."id" FROM "sales"."orders" WHERE "orders"."payload"::jsonb ? 'k'`]),
  ...of('Django', [
    `SELECT "orders"."id" FROM "sales"."orders" WHERE "orders"."tags"[1:2] = ARRAY['a', 'b']`,
  ]),
  ...of('Hibernate', [
    `select o1_0.id from sales.orders o1_0 where lower(o1_0.status) like lower('p!%') escape '!'`,
  ]),
  ...of('Fivetran', [`SELECT "id", encode(decode(md5("status"), 'hex'), 'base64') FROM "sales"."orders"`]),
  ...of('Ibis', [`SELECT REGR_SXX("t0"."amount"::float8, "t0"."discount") FROM "sales"."orders" AS "t0"`]),
  ...of('Tableau', [
    `SELECT "orders"."id" FROM "sales"."orders" "orders" ORDER BY "orders"."amount" FETCH FIRST 3 ROWS WITH TIES`,
  ]),
  ...of('Looker', [`SELECT TO_CHAR(AGE(orders.shipped_at), 'DD') FROM sales.orders AS orders`]),
  ...of('Redash', [
    `SELECT id FROM sales.orders WHERE amount > ALL (SELECT amount FROM sales.orders WHERE amount < 100)`,
  ]),
]
