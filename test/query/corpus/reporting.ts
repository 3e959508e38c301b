/** Reporting tools: Amazon QuickSight, Qlik, MicroStrategy, Cognos, SSRS, and further shapes of Power BI and Tableau. */

import { of } from './query.ts'

export const reporting = [
  ...of('QuickSight', [
    `SELECT "x", "y", SUM("y") OVER (ORDER BY "x" ASC ROWS BETWEEN UNBOUNDED PRECEDING AND 0 FOLLOWING) AS "running" FROM (SELECT date_trunc('QUARTER', "ordered_on") AS "x", COALESCE(SUM("amount"), 0) AS "y" FROM "sales"."orders" GROUP BY 1) AS "t" ORDER BY 1`,
    `SELECT "status", COUNT(*) AS "n" FROM "sales"."orders" WHERE lower("status") NOT IN ('open') AND ("region" LIKE '%U%' ESCAPE '\\' OR "region" IS NULL) GROUP BY "status" ORDER BY "n" DESC, "status" LIMIT 200`,
    `SELECT "region", SUM("amount") AS "f0", COUNT(DISTINCT "customer_id") AS "f1" FROM (SELECT "id", "customer_id", "region", "amount", "created_at" FROM "sales"."orders") AS "AnonymousVirtualTable" WHERE "created_at" >= TIMESTAMP '2024-01-01 00:00:00' AND "created_at" < TIMESTAMP '2024-04-01 00:00:00' GROUP BY "region" ORDER BY "f0" DESC NULLS LAST LIMIT 2500`,
    `SELECT date_trunc('MONTH', "ordered_on") AS "x", "status", SUM("quantity"::bigint) AS "y" FROM "sales"."orders" GROUP BY 1, 2 ORDER BY 1 ASC NULLS FIRST, 2 ASC NULLS FIRST`,
    `SELECT COUNT(1) AS "count", COUNT("amount") AS "nonnull", MIN("amount") AS "min", MAX("amount") AS "max", STDDEV_SAMP("discount") AS "sd" FROM "sales"."orders"`,
    `SELECT "c"."city", SUM(CASE WHEN "o"."status" IN ('paid', 'open') THEN 1 ELSE 0 END)::float8 / NULLIF(COUNT(*), 0)::float8 AS "rate" FROM "sales"."orders" "o" INNER JOIN "sales"."customers" "c" ON "o"."customer_id" = "c"."id" GROUP BY "c"."city" ORDER BY "c"."city"`,
    `SELECT extract(epoch from date_trunc('HOUR', "created_at"))::bigint * 1000 AS "ms", AVG("discount") AS "avg" FROM "sales"."orders" WHERE "created_at" IS NOT NULL GROUP BY 1 ORDER BY 1`,
  ]),
  ...of('Qlik', [
    `SELECT "customer_id", COUNT("id") AS "Orders", CASE WHEN COUNT("id") >= 2 THEN 'repeat' ELSE 'once' END AS "Segment", CAST(SUM("amount") AS NUMERIC(18,2)) AS "Amount" FROM "sales"."orders" WHERE "customer_id" IS NOT NULL GROUP BY "customer_id" HAVING SUM("amount") IS NOT NULL ORDER BY "customer_id"`,
    `SELECT "id", "customer_id", "status", "amount", CAST("created_at" AS TIMESTAMP) AS "created_at" FROM "sales"."orders" WHERE "ordered_on" BETWEEN DATE '2024-01-01' AND DATE '2024-12-31'`,
    `SELECT "status" AS "Status", sum("amount") AS "Sum", '2024' AS "Year" FROM "sales"."orders" WHERE to_char("ordered_on", 'YYYY') = '2024' GROUP BY "status"`,
    `SELECT DISTINCT "region" FROM "sales"."orders" WHERE "region" IS NOT NULL AND char_length("region") > 0 ORDER BY "region"`,
    `SELECT "id", "ordered_on"::varchar(10) AS "DateKey", ltrim(to_char("id", '000000')) AS "PaddedId" FROM "sales"."orders" ORDER BY "id"`,
    `SELECT o."id", o."amount" * (1 - coalesce(o."discount", 0)) AS "Net", i."price" * i."qty" AS "Line" FROM "sales"."orders" o LEFT OUTER JOIN "sales"."items" i ON (o."id" = i."order_id") ORDER BY 1, 3`,
    `SELECT max("created_at") AS "LastReload" FROM "sales"."orders" WHERE "created_at" > to_timestamp('2024-01-01 00:00:00', 'YYYY-MM-DD HH24:MI:SS')`,
  ]),
  ...of('MicroStrategy', [
    `select a11.customer_id AS customer_id, sum(case when a11.ordered_on between date '2024-01-01' and date '2024-01-31' then a11.amount else null end) AS jan, sum(case when a11.ordered_on between date '2024-02-01' and date '2024-02-29' then a11.amount else null end) AS feb from sales.orders a11 group by a11.customer_id having (sum(a11.amount) > 0 or count(*) > 1)`,
    `select a11.region AS region, a12.city AS city, sum(a11.amount) AS WJXBFS1, count(distinct a11.customer_id) AS WJXBFS2 from sales.orders a11 join sales.customers a12 on (a11.customer_id = a12.id) where a11.ordered_on between DATE '2024-01-01' and DATE '2024-06-30' group by a11.region, a12.city`,
    `select coalesce(pa11.region, pa12.region) AS region, pa11.WJXBFS1 AS paid, pa12.WJXBFS1 AS open from (select a11.region AS region, sum(a11.amount) AS WJXBFS1 from sales.orders a11 where a11.status = 'paid' group by a11.region) pa11 full outer join (select a11.region AS region, sum(a11.amount) AS WJXBFS1 from sales.orders a11 where a11.status = 'open' group by a11.region) pa12 on (pa11.region = pa12.region)`,
    `with cte1 as (select a11.customer_id AS customer_id, sum(a11.quantity) AS q from sales.orders a11 group by a11.customer_id), cte2 as (select max(c21.q) AS q from cte1 c21) select a12.name AS name, c11.q AS q from cte1 c11 join cte2 c12 on (c11.q = c12.q) join sales.customers a12 on (c11.customer_id = a12.id)`,
    `select a11.status AS status, rank() over (partition by a11.region order by sum(a11.amount) desc nulls last) AS rnk, a11.region AS region from sales.orders a11 group by a11.status, a11.region`,
    `select distinct a11.region AS region from sales.orders a11 where (exists (select * from sales.items r12 where r12.order_id = a11.id) or a11.priority is null)`,
    `select (case when (sum(a11.amount) = 0) then null else sum(a11.quantity) / sum(a11.amount) end) AS ratio, sum(a11.amount) over_total from sales.orders a11 group by a11.region order by 2`,
  ]),
  ...of('Cognos', [
    `SELECT "c"."city" AS "city", SUM("i"."price" * "i"."qty") AS "rev", SUM(SUM("i"."price" * "i"."qty")) OVER (PARTITION BY "c"."country") AS "country_rev" FROM ("sales"."orders" "o" INNER JOIN "sales"."items" "i" ON "i"."order_id" = "o"."id") INNER JOIN "sales"."customers" "c" ON "c"."id" = "o"."customer_id" GROUP BY "c"."city", "c"."country" ORDER BY 2 DESC`,
    `SELECT "T0"."C0" AS "region", "T0"."C1" AS "amount", SUM("T0"."C1") OVER () AS "total" FROM (SELECT "orders"."region" AS "C0", SUM("orders"."amount") AS "C1" FROM "sales"."orders" "orders" GROUP BY "orders"."region") "T0" ORDER BY "region" ASC NULLS LAST`,
    `SELECT "Q"."status" AS "status", XSUM AS "s", MIN("Q".xsum) OVER (PARTITION BY "Q"."status") AS "m" FROM (SELECT "o"."status" AS "status", SUM("o"."quantity") OVER (PARTITION BY "o"."status", "o"."region") AS XSUM FROM "sales"."orders" "o") "Q"("status", XSUM) WHERE 1 = 0`,
    `WITH "base" AS (SELECT "o"."customer_id" AS "k", "o"."amount" AS "a", ROW_NUMBER() OVER (PARTITION BY "o"."customer_id" ORDER BY "o"."created_at" DESC NULLS LAST) AS "rn" FROM "sales"."orders" "o") SELECT "base"."k", CAST("base"."a" AS DECIMAL(15, 4)) AS "a" FROM "base" WHERE "base"."rn" = 1 ORDER BY "base"."k" ASC NULLS LAST`,
    `SELECT CASE WHEN GROUPING("o"."region") = 1 THEN 'Overall' ELSE "o"."region" END AS "r", CAST(SUM("o"."quantity") AS DECIMAL(31, 0)) AS "q" FROM "sales"."orders" "o" GROUP BY ROLLUP("o"."region") ORDER BY GROUPING("o"."region"), 1`,
    `SELECT EXTRACT(YEAR FROM "o"."created_at") * 100 + EXTRACT(MONTH FROM "o"."created_at") AS "ym", AVG(CAST("o"."amount" AS DOUBLE PRECISION)) AS "avg" FROM "sales"."orders" "o" WHERE NOT "o"."created_at" IS NULL GROUP BY EXTRACT(YEAR FROM "o"."created_at") * 100 + EXTRACT(MONTH FROM "o"."created_at")`,
  ]),
  ...of('SSRS', [
    `SELECT o.id, to_char(o.created_at, 'YYYY-MM-DD"T"HH24:MI:SS') AS ts, date_part('week', o.created_at)::int AS wk, extract(day from (o.shipped_at - timestamptz '2024-01-01')) AS days FROM sales.orders o WHERE o.shipped_at >= date_trunc('month', timestamptz '2024-03-15') ORDER BY o.id`,
    `SELECT o.region, o.status, SUM(o.amount) AS Amount FROM sales.orders o WHERE o.region IN (SELECT unnest(string_to_array('EU,US', ','))) GROUP BY o.region, o.status ORDER BY o.region, o.status`,
    `SELECT 'All' AS label, NULL::int AS value UNION ALL SELECT c.name, c.id FROM sales.customers c ORDER BY label`,
    `SELECT date_trunc('week', o.ordered_on)::date AS WeekStart, (date_trunc('week', o.ordered_on) + interval '6 days')::date AS WeekEnd, COUNT(*) AS n FROM sales.orders o GROUP BY 1, 2 ORDER BY 1`,
    `SELECT o.id, COALESCE(o.status, '(none)') AS status, CASE WHEN o.priority THEN 'High' WHEN NOT o.priority THEN 'Normal' END AS Priority FROM sales.orders o ORDER BY CASE WHEN o.status IS NULL THEN 1 ELSE 0 END, o.status, o.id`,
  ]),
  ...of('Power BI', [
    `select "_"."region", "_"."a0" from (select "rows"."region" as "region", sum(cast("rows"."quantity" as decimal)) as "a0" from (select "_"."region", "_"."quantity" from "sales"."orders" "_" where "_"."status" = 'paid' and "_"."status" is not null) "rows" group by "region") "_" where not "_"."a0" is null limit 1000001`,
    `select "$Outer"."id", "$Inner"."name" as "customers.name" from "sales"."orders" as "$Outer" left outer join "sales"."customers" as "$Inner" on ("$Outer"."customer_id" = "$Inner"."id" or "$Outer"."customer_id" is null and "$Inner"."id" is null) order by 1`,
    `select "_"."id" as "id", case when "_"."created_at" >= timestamp '2024-03-01 00:00:00' then date_part('year', "_"."created_at") else null end as "y" from (select "id", "created_at" from "sales"."orders") "_" order by "_"."id"`,
  ]),
  ...of('Tableau', [
    `SELECT "t0"."region" AS "region", SUM("t0"."X_measure__0") AS "sum_x" FROM (SELECT "orders"."customer_id" AS "customer_id", MIN("orders"."region") AS "region", SUM("orders"."amount") AS "X_measure__0" FROM "sales"."orders" "orders" GROUP BY 1) "t0" GROUP BY 1`,
    `SELECT (CASE WHEN ("orders"."discount" < 0.1) THEN 'low' WHEN NOT ("orders"."discount" < 0.1) THEN 'high' ELSE NULL END) AS "calc", CAST(TRUNC(EXTRACT(QUARTER FROM "orders"."ordered_on")) AS INTEGER) AS "qr:ordered_on:ok", (1 + 0 + CAST(EXTRACT(DOW FROM "orders"."created_at") AS BIGINT)) AS "wd" FROM "sales"."orders" "orders" GROUP BY 1, 2, 3`,
    `SELECT SUM(1) AS "cnt:ok", FLOOR("orders"."amount" / 50) * 50 AS "bin" FROM "sales"."orders" "orders" GROUP BY 2 HAVING ((COUNT(1) > 0))`,
    `SELECT CAST("orders"."status" AS TEXT) AS "status", STRPOS(CAST(LOWER("orders"."status") AS TEXT), CAST('a' AS TEXT)) AS "pos", RTRIM(LTRIM(CAST("orders"."region" AS TEXT))) AS "trimmed" FROM "sales"."orders" "orders" WHERE (STRPOS(CAST("orders"."status" AS TEXT), 'p') > 0) ORDER BY 1`,
    `SELECT "t"."id", "t"."rk" FROM (SELECT "orders"."id" AS "id", RANK() OVER (ORDER BY "orders"."amount" DESC NULLS LAST) AS "rk" FROM "sales"."orders" "orders") "t" INNER JOIN (SELECT "items"."order_id" AS "order_id" FROM "sales"."items" "items" GROUP BY 1) "t1" ON ("t"."id" = "t1"."order_id") ORDER BY 2, 1`,
    `SELECT DATE_TRUNC( 'QUARTER', CAST("orders"."created_at" AS TIMESTAMP) ) AS "tqr", (CAST("orders"."ordered_on" AS DATE) - DATE '1899-12-30') AS "serial" FROM "sales"."orders" "orders" WHERE "orders"."created_at" IS NOT NULL`,
  ]),
]
