/** What tools write and is refused, with the words of docs/sql.md that say so. */

import type { CorpusQuery } from './query.ts'

export interface RefusedQuery extends Pick<CorpusQuery, 'tool' | 'sql'> {
  readonly sqlState: string
  readonly listed: string
}

const statements: readonly (readonly [
  tool: CorpusQuery['tool'],
  sqlState: string,
  listed: string,
  sql: string,
])[] = [
  [
    'Tableau',
    '0A000',
    '`date_trunc` to `century`',
    `SELECT CAST(EXTRACT(CENTURY FROM "orders"."created_at") AS INTEGER) AS "c", DATE_TRUNC('CENTURY', "orders"."created_at") AS "t" FROM "sales"."orders" "orders"`,
  ],
  [
    'Looker',
    '0A000',
    'more than 38 digits',
    `SELECT SUM(DISTINCT orders.amount::DECIMAL(65,0)) FROM sales.orders AS orders`,
  ],
  ['Power BI', '0A000', '`ONLY`', `select "_"."id" from only "sales"."orders" "_"`],
  ['Superset', '0A000', '`COLLATE` other than', `SELECT status COLLATE "de-x-icu" AS s FROM sales.orders`],
  [
    'Mode',
    '0A000',
    '`EXCLUDE`',
    `SELECT id, sum(amount) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW) FROM sales.orders`,
  ],
  [
    'Mode',
    '0A000',
    'beside windows',
    `SELECT id, unnest(tags) AS tag, row_number() OVER (ORDER BY id) FROM sales.orders`,
  ],
  [
    'Sigma',
    '0A000',
    '`DISTINCT` in a window',
    `select count(distinct "region") over () as "n" from "sales"."orders"`,
  ],
  [
    'Hex',
    '42883',
    '`jsonb_path_query`',
    `SELECT jsonb_path_query(payload::jsonb, '$.list[*]') FROM sales.orders`,
  ],
  ['Hex', '0A000', 'arrays of arrays', `SELECT array_agg(ARRAY[id, quantity]) FROM sales.orders`],
  [
    'Lightdash',
    '0A000',
    'side of an outer join',
    `SELECT "c".name, COUNT("o") FROM "sales"."customers" AS "c" LEFT JOIN "sales"."orders" AS "o" ON "o".customer_id = "c".id GROUP BY 1`,
  ],
  [
    'Cognos',
    '0A000',
    '`GROUP BY DISTINCT`',
    `SELECT "o"."region" FROM "sales"."orders" "o" GROUP BY DISTINCT ROLLUP("o"."region"), ROLLUP("o"."status")`,
  ],
  [
    'MicroStrategy',
    '0A000',
    'an aggregate over an outer query',
    `select (select sum(a11.amount) from sales.items a12 where a12.order_id = a11.id) from sales.orders a11`,
  ],
  [
    'SSRS',
    '0A000',
    'infinite dates',
    `SELECT o.id FROM sales.orders o WHERE o.created_at < 'infinity'::timestamp`,
  ],
  [
    'QuickSight',
    '22023',
    'must be IANA names',
    `SELECT "id", "created_at" AT TIME ZONE '+02:00' FROM "sales"."orders"`,
  ],
  [
    'Rails',
    '42883',
    'full-text search',
    `SELECT "orders"."id" FROM "sales"."orders" WHERE to_tsvector('english', "orders"."status") @@ plainto_tsquery('english', 'paid')`,
  ],
  [
    'Sequelize',
    '0A000',
    '`varchar(n)[]`',
    `SELECT "id" FROM "sales"."orders" AS "order" WHERE "order"."tags" @> ARRAY['a']::VARCHAR(255)[]::text[]`,
  ],
  [
    'Airbyte',
    '22P02',
    '`NaN` of a numeric',
    `SELECT "id", CASE WHEN "amount" = 'NaN' THEN NULL ELSE "amount" END AS "amount" FROM "sales"."orders"`,
  ],
  [
    'dbt',
    '0A000',
    'the separator of `string_agg`',
    `select string_agg(status, region) from "sales"."orders"`,
  ],
  [
    'Great Expectations',
    '0A000',
    'look-around',
    `SELECT count(*) FROM sales.orders WHERE status ~ '^(?!open)'`,
  ],
  ['pgcli', '42883', '`current_setting`', `SELECT current_setting('TimeZone'), id FROM sales.orders`],
  [
    'DataGrip',
    '42883',
    '`quote_ident`',
    `SELECT quote_ident(status), quote_literal(region) FROM sales.orders`,
  ],
  [
    'DBeaver',
    '0A000',
    '`TABLESAMPLE … REPEATABLE`',
    `SELECT * FROM sales.orders TABLESAMPLE SYSTEM (100) REPEATABLE (1)`,
  ],
]

export const refusedQueries: readonly RefusedQuery[] = statements.map(([tool, sqlState, listed, sql]) => ({
  tool,
  sql,
  sqlState,
  listed,
}))
