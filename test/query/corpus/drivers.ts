/**
 * Drivers and query builders that send every value as a parameter, in places where engines need a literal too: units
 * of dates, time zones, patterns, separators, digits, keys of JSON.
 */

import { of } from './query.ts'

const sqlAlchemy = of('SQLAlchemy', [
  [
    `SELECT date_trunc($1::VARCHAR, orders.created_at) AS m, count(*) AS n FROM sales.orders GROUP BY 1 ORDER BY 1`,
    'month',
  ],
  [
    `SELECT date_trunc($1::VARCHAR, orders.ordered_on) AS m, sum(orders.amount) AS total FROM sales.orders WHERE orders.status = $2::VARCHAR GROUP BY 1`,
    'year',
    'paid',
  ],
  [`SELECT orders.id, round(orders.amount, $1::INTEGER) AS r FROM sales.orders ORDER BY orders.id`, '1'],
  [`SELECT string_agg(orders.status, $1::VARCHAR ORDER BY orders.id) AS s FROM sales.orders`, '; '],
  [`SELECT to_char(orders.created_at, $1::VARCHAR) AS d FROM sales.orders`, 'YYYY-MM-DD'],
  [`SELECT orders.id FROM sales.orders WHERE orders.status ~ $1::VARCHAR`, '^p'],
  [`SELECT orders.id FROM sales.orders WHERE orders.status LIKE $1::VARCHAR ESCAPE $2::VARCHAR`, 'p/_%', '/'],
  [`SELECT orders.id FROM sales.orders WHERE (orders.status NOT LIKE $1::VARCHAR ESCAPE '/')`, 'p%'],
  [`SELECT date_trunc($1::VARCHAR, orders.created_at) AS m FROM sales.orders`, null],
])

const asyncpg = of('asyncpg', [
  [`SELECT id FROM sales.orders ORDER BY id LIMIT $1 OFFSET $2`, null, '3'],
  [`SELECT id, region FROM sales.orders ORDER BY id LIMIT $1 OFFSET $2`, '3', null],
  [`SELECT date_part($1, created_at) AS p FROM sales.orders`, 'dow'],
  [`SELECT id, created_at AT TIME ZONE $1 AS t FROM sales.orders`, 'Europe/Berlin'],
  [`SELECT shipped_at AT TIME ZONE $1 AS t FROM sales.orders`, 'America/New_York'],
  [`SELECT percentile_disc($1) WITHIN GROUP (ORDER BY quantity) AS p FROM sales.orders`, '0.5'],
  [`SELECT payload::jsonb ->> $1 AS v FROM sales.orders WHERE payload IS NOT NULL ORDER BY id`, 's'],
  [`SELECT payload::json -> $1 -> $2 AS v FROM sales.orders WHERE id = $3`, 'k', 'x', '1'],
])

const knex = of('knex', [
  [
    `select regexp_replace("status", $1, $2) as "s" from "sales"."orders" order by "id" limit $3`,
    '[aeiou]',
    '*',
    '5',
  ],
  [`select regexp_replace("status", $1, $2, $3) as "s" from "sales"."orders"`, '[aeiou]', '*', 'g'],
  [
    `select date_trunc($1, "created_at") as "day", count(*) as "n" from "sales"."orders" where "created_at" >= $2 group by 1 order by 1`,
    'day',
    '2024-01-01',
  ],
  [`select "id", ntile($1) over (order by "id") as "t" from "sales"."orders"`, '3'],
])

const drizzle = of('drizzle', [
  [
    `select to_char(date_trunc($1, "created_at"), $2) from "sales"."orders" where "sales"."orders"."region" = $3`,
    'week',
    'IYYY-IW',
    'EU',
  ],
  [`select "id" from "sales"."orders" where "status" similar to $1 order by "id"`, '(paid|open)'],
  [`select encode(sha256('\\x616263'::bytea), $1) as "h" from "sales"."orders"`, 'hex'],
])

const pdo = of('PDO', [
  [
    `SELECT EXTRACT(year FROM created_at) AS y, ROUND(AVG(amount), $1) AS a FROM sales.orders GROUP BY 1`,
    '2',
  ],
  [`SELECT id FROM sales.orders WHERE status ~* $1 AND region !~ $2 ORDER BY id`, 'PA', '^A'],
  [`SELECT trunc(amount, $1) AS t FROM sales.orders`, '-1'],
])

const dbdPg = of('DBD::Pg', [
  [`SELECT percentile_cont($1) WITHIN GROUP (ORDER BY amount DESC) AS p FROM sales.orders`, '0.25'],
  [`SELECT substring(status from $1) AS s FROM sales.orders`, '^.(..)'],
  [
    `SELECT regexp_count(status, $1) AS c, regexp_substr(status, $2) AS s FROM sales.orders`,
    '[a-d]',
    '[^p]+',
  ],
])

const tokioPostgres = of('tokio-postgres', [
  [
    `SELECT date_trunc($1, created_at)::date AS d, count(*) FROM sales.orders WHERE shipped_at > $2 GROUP BY 1`,
    'quarter',
    '2024-01-01 00:00:00+00',
  ],
  [`SELECT date_bin($1, created_at, $2) AS b FROM sales.orders`, '6 hours', '2024-01-01'],
])

const django = of('Django', [
  [
    `SELECT DATE_TRUNC($1, ("sales"."orders"."shipped_at" AT TIME ZONE $2)) AS "day", COUNT("sales"."orders"."id") AS "n" FROM "sales"."orders" GROUP BY 1 ORDER BY 1 ASC`,
    'day',
    'UTC',
  ],
  [
    `SELECT "orders"."id" FROM "sales"."orders" WHERE "orders"."status"::text ~ $1 ORDER BY "orders"."id"`,
    '(id|en)$',
  ],
  [
    `SELECT ("orders"."payload"::jsonb #>> $1) AS "x" FROM "sales"."orders" WHERE "orders"."payload" IS NOT NULL`,
    '{k,x}',
  ],
])

const rails = of('Rails', [
  [
    `SELECT COUNT(*) AS "count_all", DATE_TRUNC($1, "orders"."created_at")::date AS "m" FROM "sales"."orders" WHERE "orders"."status" = $2 GROUP BY 2`,
    'month',
    'paid',
  ],
])

const arrays = of('pgjdbc', [
  [`SELECT id FROM orders WHERE id = ANY($1) ORDER BY id`, '{1,3,7}'],
  [`SELECT id FROM orders WHERE id = ANY($1::int[]) ORDER BY id`, '{}'],
  [
    `SELECT id, status = ANY($1) AS a, status <> ALL($1) AS b, quantity = ANY($2) AS c FROM orders`,
    '{paid,NULL}',
    '{}',
  ],
  [`SELECT id, NOT (status = ANY($1::text[])) AS a FROM orders`, '{}'],
  [
    `SELECT big = ANY($1::bigint[]), amount = ANY($2), ordered_on = ANY($3::date[]), id = ANY($4::bigint[]) FROM orders`,
    '{1,-5,9000000000}',
    '{20,7.25}',
    '{2024-02-01}',
    '{1,2}',
  ],
  [`SELECT id FROM orders WHERE status LIKE ANY($1)`, '{p%,%n}'],
  [`SELECT id FROM orders WHERE quantity > ALL($1) AND quantity < ANY($2::int[])`, '{1,2}', '{5,100}'],
  [
    `SELECT c.name FROM customers c JOIN orders o ON o.customer_id = c.id AND o.id = ANY($1) GROUP BY c.name`,
    '{1,2,3}',
  ],
  [
    `SELECT count(*) FILTER (WHERE id = ANY($1)), sum(CASE WHEN id = ANY($1) THEN 1 ELSE 0 END) FROM orders`,
    '{1,2}',
  ],
  [`SELECT id = ANY($1) AS x, count(*) FROM orders GROUP BY id = ANY($1)`, '{1,2}'],
  [`SELECT id FROM orders WHERE region = ANY($1)`, '{"EU","a,b","it\'s"}'],
  [
    `SELECT id FROM orders WHERE discount = ANY($1::float8[]) OR discount = ANY($2::real[])`,
    '{0.1,0.25}',
    '{0.5}',
  ],
  [`SELECT id FROM orders WHERE tags[1] = ANY($1)`, '{a,c}'],
])

export const drivers = [
  ...arrays,
  ...sqlAlchemy,
  ...asyncpg,
  ...knex,
  ...drizzle,
  ...pdo,
  ...dbdPg,
  ...tokioPostgres,
  ...django,
  ...rails,
]
