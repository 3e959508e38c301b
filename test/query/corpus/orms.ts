/** Object-relational mappers and query builders: what they write for includes, counts, pages and nested JSON. */

import { of } from './query.ts'

export const orms = [
  ...of('Django', [
    `SELECT "sales"."orders"."id", "sales"."orders"."status", EXISTS(SELECT 1 AS "a" FROM "sales"."items" U0 WHERE U0."order_id" = ("sales"."orders"."id") LIMIT 1) AS "has_items" FROM "sales"."orders" WHERE NOT (EXISTS(SELECT 1 AS "a" FROM "sales"."items" U1 WHERE (U1."sku" LIKE 'c%' AND U1."order_id" = ("sales"."orders"."id")) LIMIT 1)) ORDER BY "sales"."orders"."id" ASC`,
    `SELECT DATE_TRUNC('month', "orders"."created_at" AT TIME ZONE 'UTC')::timestamptz AS "month", COUNT("orders"."id") AS "c" FROM "sales"."orders" GROUP BY 1 ORDER BY 1 ASC`,
    `SELECT (EXTRACT('year' FROM "orders"."ordered_on"))::integer AS "y", COALESCE(SUM("orders"."amount"), 0) AS "s", AVG("orders"."quantity") FILTER (WHERE "orders"."status" = 'paid') AS "a" FROM "sales"."orders" GROUP BY 1 HAVING COUNT("orders"."id") > 0 ORDER BY 1 NULLS LAST`,
    `SELECT "customers"."id", "customers"."name" FROM "sales"."customers" WHERE (UPPER("customers"."name"::text) LIKE UPPER('%A%') AND NOT ("customers"."city" IS NULL)) OR "customers"."id" IN (SELECT U0."customer_id" FROM "sales"."orders" U0 WHERE U0."amount" > 100) ORDER BY "customers"."name" ASC LIMIT 21`,
    `SELECT "orders"."id", CASE WHEN "orders"."amount" > 100 THEN 'big' WHEN "orders"."amount" IS NULL THEN NULL ELSE 'small' END AS "size", ROW_NUMBER() OVER (PARTITION BY "orders"."region" ORDER BY "orders"."id") AS "rn", LENGTH("orders"."status") AS "len", CONCAT("orders"."region", ': ', "orders"."status") AS "label" FROM "sales"."orders" ORDER BY 1`,
    `SELECT COUNT(*) FROM (SELECT DISTINCT "orders"."region" AS "col1", "orders"."status" AS "col2" FROM "sales"."orders") subquery`,
    `SELECT "orders"."id" FROM "sales"."orders" WHERE "orders"."created_at"::date = '2024-02-29'::date AND "orders"."tags" && ARRAY['a', 'b']::text[] OR "orders"."tags" @> ARRAY['c']::text[]`,
    `SELECT (("orders"."payload"::jsonb) -> 'k') AS "k", ("orders"."payload"::jsonb #>> '{k,x}') AS "x" FROM "sales"."orders" WHERE ("orders"."payload"::jsonb -> 'k') IS NOT NULL ORDER BY "orders"."id"`,
  ]),
  ...of('Rails', [
    `SELECT "orders"."id" AS t0_r0, "orders"."status" AS t0_r1, "customers"."id" AS t1_r0, "customers"."name" AS t1_r1 FROM "sales"."orders" LEFT OUTER JOIN "sales"."customers" ON "customers"."id" = "orders"."customer_id" WHERE "orders"."status" IN ('paid', 'open') ORDER BY "orders"."id" ASC`,
    `SELECT COUNT(count_column) FROM (SELECT 1 AS count_column FROM "sales"."orders" WHERE "orders"."amount" > 10 LIMIT 5) subquery_for_count`,
    `SELECT 1 AS one FROM "sales"."orders" WHERE "orders"."region" = 'EU' LIMIT 1`,
    `SELECT AVG("orders"."amount") AS "average_amount", "orders"."status" AS "orders_status" FROM "sales"."orders" WHERE ("orders"."status" != 'open' OR "orders"."status" IS NULL) GROUP BY "orders"."status"`,
    `SELECT DISTINCT "customers"."id", LOWER(customers.name) AS alias_0 FROM "sales"."customers" INNER JOIN "sales"."orders" ON "orders"."customer_id" = "customers"."id" ORDER BY LOWER(customers.name) ASC, "customers"."id" LIMIT 10`,
    `SELECT "orders".* FROM "sales"."orders" WHERE "orders"."created_at" >= '2024-01-01 00:00:00' AND "orders"."created_at" < '2024-03-01 00:00:00' AND (quantity BETWEEN 1 AND 5) ORDER BY "orders"."created_at" DESC, "orders"."id" DESC LIMIT 3 OFFSET 1`,
  ]),
  ...of('Hibernate', [
    `select o1_0.id from sales.orders o1_0 where o1_0.amount>(select avg(o2_0.amount) from sales.orders o2_0 where o2_0.region=o1_0.region) and o1_0.customer_id is not null order by o1_0.id`,
    `select c1_0.name, listagg.v from sales.customers c1_0 join lateral (select string_agg(o1_0.status, ',' order by o1_0.id) as v from sales.orders o1_0 where o1_0.customer_id=c1_0.id) listagg on (1=1) order by c1_0.name`,
    `select o1_0.id, o1_0.status, c1_0.name from sales.orders o1_0 left join sales.customers c1_0 on c1_0.id=o1_0.customer_id where lower(o1_0.status) like lower('P%') escape '' order by o1_0.id fetch first 5 rows only`,
    `select o1_0.region, count(o1_0.id), sum(o1_0.amount) from sales.orders o1_0 group by o1_0.region having count(o1_0.id)>cast(1 as bigint) order by 2 desc, 1`,
    `select c1_0.id, (select max(o1_0.created_at) from sales.orders o1_0 where o1_0.customer_id=c1_0.id) from sales.customers c1_0 where c1_0.id in (1,2,3) order by c1_0.id offset 0 rows fetch next 10 rows only`,
    `select o1_0.id, extract(year from o1_0.ordered_on), cast(o1_0.amount as varchar), coalesce(o1_0.quantity, 0)+1, (o1_0.created_at + interval '1' day) from sales.orders o1_0 where o1_0.ordered_on is not null order by 1`,
    `select distinct on (o1_0.customer_id) o1_0.customer_id, o1_0.id from sales.orders o1_0 where o1_0.customer_id is not null order by o1_0.customer_id, o1_0.created_at desc`,
  ]),
  ...of('Prisma', [
    `SELECT "t1"."id", "t1"."amount" FROM "sales"."orders" AS "t1", (SELECT "t2"."amount" AS "amount_0" FROM "sales"."orders" AS "t2" WHERE ("t2"."id") = (3)) AS "order_cmp" WHERE ("t1"."amount" >= "order_cmp"."amount_0" OR "t1"."amount" IS NULL) ORDER BY "t1"."amount" ASC, "t1"."id" LIMIT 5`,
    `SELECT "t1"."id", "t1"."status", "t1"."customer_id" FROM "sales"."orders" AS "t1" WHERE ("t1"."status" = 'paid' AND ("t1"."id") IN (SELECT "t2"."order_id" FROM "sales"."items" AS "t2" WHERE ("t2"."qty" > 2 AND "t2"."order_id" IS NOT NULL))) ORDER BY "t1"."id" ASC LIMIT 10 OFFSET 0`,
    `SELECT COUNT(*), SUM("quantity"), AVG("quantity"), MIN("amount"), MAX("amount") FROM (SELECT "t1"."quantity", "t1"."amount" FROM "sales"."orders" AS "t1" WHERE 1=1 ORDER BY "t1"."id" ASC OFFSET 1) AS "sub"`,
    `SELECT COALESCE(JSONB_AGG("__prisma_data__"), '[]') AS "__prisma_data__" FROM (SELECT JSONB_BUILD_OBJECT('id', "t1"."id", 'name', "t1"."name") AS "__prisma_data__" FROM (SELECT "t0"."id", "t0"."name" FROM "sales"."customers" AS "t0" ORDER BY "t0"."id") AS "t1") AS "t3"`,
    `SELECT "t0"."id", "aggr_selection_0_orders"."_aggr_count_orders" FROM "sales"."customers" AS "t0" LEFT JOIN (SELECT "t1"."customer_id", COUNT(*) AS "_aggr_count_orders" FROM "sales"."orders" AS "t1" WHERE 1=1 GROUP BY "t1"."customer_id") AS "aggr_selection_0_orders" ON ("t0"."id" = "aggr_selection_0_orders"."customer_id") WHERE 1=1 ORDER BY "t0"."id"`,
    `SELECT "t1"."id" FROM "sales"."orders" AS "t1" WHERE ("t1"."status"::text ILIKE 'pa%' AND "t1"."id" NOT IN (99,98) AND ("t1"."priority" = true OR "t1"."priority" IS NULL) AND 1=1)`,
    `SELECT t1.id, aggr.j FROM "sales"."customers" t1 LEFT JOIN LATERAL (SELECT COALESCE(JSONB_AGG(JSONB_BUILD_OBJECT('id', o.id, 'status', o.status) ORDER BY o.id), '[]') AS j FROM "sales"."orders" o WHERE o.customer_id = t1.id) aggr ON true ORDER BY t1.id`,
  ]),
  ...of('Sequelize', [
    `SELECT "id", (SELECT COUNT(*) FROM "sales"."items" AS "i" WHERE "i"."order_id" = "order"."id")::int AS "itemCount" FROM "sales"."orders" AS "order" WHERE ("order"."status", "order"."region") IN (('paid', 'EU'), ('open', 'EU')) ORDER BY "itemCount" DESC, "id"`,
    `SELECT "order"."id", "order"."status", "customer"."id" AS "customer.id", "customer"."city" AS "customer.city" FROM (SELECT "order"."id", "order"."status", "order"."customer_id" FROM "sales"."orders" AS "order" WHERE ("order"."amount" >= 10 AND "order"."amount" < 1000) ORDER BY "order"."id" ASC LIMIT 5) AS "order" LEFT OUTER JOIN "sales"."customers" AS "customer" ON "order"."customer_id" = "customer"."id" ORDER BY "order"."id" ASC`,
    `SELECT count("order"."id") AS "count", date_trunc('day', "created_at") AS "day" FROM "sales"."orders" AS "order" WHERE "order"."status" NOT IN ('cancelled') GROUP BY date_trunc('day', "created_at") ORDER BY 2`,
    `SELECT "id", "tags" FROM "sales"."orders" AS "order" WHERE ("order"."tags" @> ARRAY['a']::text[] AND "order"."status" IS NOT NULL)`,
    `SELECT sum("amount") AS "sum", "region" FROM "sales"."orders" AS "o" GROUP BY "region" HAVING sum("amount") > 20 ORDER BY sum("amount") DESC`,
  ]),
  ...of('TypeORM', [
    `SELECT "o"."id" AS "o_id", ("o"."payload"::jsonb ->> 's') AS "s", "o"."created_at"::date AS "day" FROM "sales"."orders" "o" WHERE "o"."payload" IS NOT NULL AND ("o"."payload"::jsonb -> 'k' IS NOT NULL OR "o"."payload"::jsonb ->> 's' ILIKE 'u%') ORDER BY "o_id" ASC`,
    `SELECT "o"."id" AS "o_id", "o"."status" AS "o_status", "i"."sku" AS "i_sku" FROM "sales"."orders" "o" LEFT JOIN "sales"."items" "i" ON "i"."order_id"="o"."id" AND "i"."qty" > 3 WHERE "o"."region" = 'EU' AND ("o"."status" = 'paid' OR "o"."status" = 'open') ORDER BY "o_id" ASC, "i_sku" ASC`,
    `SELECT DISTINCT "distinctAlias"."o_id" AS "ids_o_id" FROM (SELECT "o"."id" AS "o_id", "c"."name" AS "c_name" FROM "sales"."orders" "o" LEFT JOIN "sales"."customers" "c" ON "c"."id"="o"."customer_id") "distinctAlias" ORDER BY "o_id" ASC LIMIT 3`,
    `SELECT COUNT(DISTINCT("o"."id")) AS "cnt" FROM "sales"."orders" "o" WHERE "o"."created_at" > '2024-01-31T00:00:00.000Z'`,
  ]),
  ...of('knex', [
    `select count(*) as "total", "region" from "sales"."orders" where "status" in ('paid') group by "region" having count(*) > 0 order by "region" asc nulls first`,
    `select * from (select "id", "amount", percent_rank() over (order by "amount" asc nulls last) as "pr" from "sales"."orders") as "ranked" where "pr" <= 0.5 order by "id"`,
    `with "big" as (select "id", "customer_id" from "sales"."orders" where "amount" > 40), "names" as (select "id", "name" from "sales"."customers") select "names"."name", "big"."id" from "big" inner join "names" on "names"."id" = "big"."customer_id" order by "big"."id"`,
    `select "id" from "sales"."orders" where exists (select 1 from "sales"."items" where "items"."order_id" = "orders"."id") union all select "id" from "sales"."orders" where "priority" is true`,
  ]),
  ...of('drizzle', [
    `select "orders"."id", "orders"."data" from (select "id", json_build_array("id", "status", "amount") as "data" from "sales"."orders" order by "id" limit 3) "orders"`,
    `select "customers"."id", "customers"."name", "customers_orders"."data" as "orders" from "sales"."customers" "customers" left join lateral (select coalesce(json_agg(json_build_array("customers_orders"."id", "customers_orders"."status") order by "customers_orders"."id"), '[]'::json) as "data" from (select * from "sales"."orders" "customers_orders" where "customers_orders"."customer_id" = "customers"."id" order by "customers_orders"."id") "customers_orders") "customers_orders" on true order by "customers"."id"`,
    `select "region", cast(count("id") as int) as "n", sum("quantity")::int as "q" from "sales"."orders" group by "region" having count("id") >= 2 order by "region" asc`,
    `select "id", row_number() over (partition by "status" order by "id") as "rn" from "sales"."orders" where ("orders"."amount" > 5.5 and not ("orders"."status" = 'open'))`,
  ]),
  ...of('sqlx', [
    `SELECT id AS "id!", status AS "status?", amount::float8 AS "amount: f64" FROM sales.orders WHERE id = ANY(ARRAY[1, 2, 3]) ORDER BY id`,
    `SELECT EXISTS(SELECT 1 FROM sales.orders WHERE region = 'EU') AS "exists!"`,
    `SELECT COALESCE(array_agg(o.id ORDER BY o.id) FILTER (WHERE o.id IS NOT NULL), '{}') AS "ids!: Vec<i32>", c.id FROM sales.customers c LEFT JOIN sales.orders o ON o.customer_id = c.id GROUP BY c.id ORDER BY c.id`,
    `SELECT (c.id, c.name) = (1, 'Ada') AS "is_ada!", row_to_json(c) AS "json!" FROM (SELECT id, name FROM sales.customers) c ORDER BY c.id`,
  ]),
  ...of('SQLAlchemy', [
    `SELECT anon_1.region, anon_1.total FROM (SELECT sales.orders.region AS region, sum(sales.orders.amount) AS total FROM sales.orders GROUP BY sales.orders.region) AS anon_1 WHERE anon_1.total > (SELECT avg(sales.orders.amount) AS avg_1 FROM sales.orders)`,
    `WITH RECURSIVE reports(id, name, level) AS (SELECT e.id AS id, e.name AS name, 0 AS level FROM hr.employees AS e WHERE e.manager_id IS NULL UNION ALL SELECT e_1.id AS id, e_1.name AS name, reports.level + 1 AS anon_1 FROM hr.employees AS e_1 JOIN reports ON e_1.manager_id = reports.id) SELECT reports.id, reports.name, reports.level FROM reports ORDER BY reports.level, reports.id`,
    `SELECT orders_1.id, unnest(orders_1.tags) AS tag FROM sales.orders AS orders_1 ORDER BY orders_1.id, tag`,
    `SELECT count(orders.id) AS count_1, orders.status, grouping(orders.status) AS g FROM sales.orders GROUP BY GROUPING SETS((orders.status), ()) ORDER BY g, orders.status`,
    `SELECT CAST(sales.orders.created_at AS DATE) AS d, sum(sales.orders.amount) OVER (PARTITION BY CAST(sales.orders.created_at AS DATE) ORDER BY sales.orders.id RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS s FROM sales.orders WHERE sales.orders.created_at IS NOT NULL ORDER BY sales.orders.id`,
    `SELECT anon_1.value, anon_1.ordinality FROM unnest(CAST(ARRAY['x', 'y'] AS VARCHAR[])) WITH ORDINALITY AS anon_1(value, ordinality) ORDER BY 2`,
  ]),
]
