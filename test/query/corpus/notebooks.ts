/** Notebooks and explorers: Redash, Mode, Sigma, Hex, Lightdash, Cube, and further shapes of Superset, Metabase and Grafana. */

import { of } from './query.ts'

export const notebooks = [
  ...of('Redash', [
    `SELECT a.id, b.id AS other FROM sales.orders a JOIN sales.orders b ON a.customer_id = b.customer_id AND a.id < b.id AND b.created_at - a.created_at < interval '60 days' ORDER BY 1, 2`,
    `SELECT region, sum(amount) FROM sales.orders GROUP BY region INTERSECT SELECT region, sum(amount) FROM sales.orders WHERE status IS NOT NULL OR region <> 'EU' GROUP BY region`,
    `SELECT status AS "status::filter", count(*) AS "Orders" FROM sales.orders GROUP BY 1 ORDER BY 2 DESC, 1`,
    `WITH days AS (SELECT generate_series('2024-01-01'::date, '2024-01-31'::date, '1 day')::date AS day) SELECT days.day, count(o.id) AS n, sum(count(o.id)) OVER (ORDER BY days.day) AS running FROM days LEFT JOIN sales.orders o ON o.ordered_on = days.day GROUP BY days.day ORDER BY days.day`,
    `SELECT * FROM (SELECT id, created_at, lag(created_at) OVER (ORDER BY created_at) AS previous FROM sales.orders) q WHERE created_at - previous > interval '20 days' ORDER BY id`,
    `SELECT tag, count(*) FROM (SELECT unnest(tags) AS tag FROM sales.orders) t WHERE tag IS NOT NULL GROUP BY tag ORDER BY count(*) DESC, tag`,
    `SELECT id, payload::json->'k'->>'x' AS x, (payload::json->>'list')::text AS list FROM sales.orders WHERE payload IS NOT NULL AND payload::json->>'s' IS NOT NULL ORDER BY id`,
    `SELECT 'Total' AS kind, sum(amount) FROM sales.orders UNION ALL (SELECT region, sum(amount) FROM sales.orders GROUP BY region ORDER BY 1) ORDER BY 1`,
  ]),
  ...of('Mode', [
    `SELECT id, amount, sum(amount) OVER (ORDER BY created_at RANGE BETWEEN INTERVAL '30 days' PRECEDING AND CURRENT ROW) AS trailing FROM sales.orders WHERE created_at IS NOT NULL ORDER BY created_at`,
    `SELECT to_char(created_at, 'Dy HH24:00') AS slot, to_char(amount, 'FM999,990.00') AS shown, initcap(status) AS label, left(region, 1) || right(region, 1) AS code FROM sales.orders WHERE amount IS NOT NULL ORDER BY id`,
    `WITH cohort AS (SELECT customer_id, MIN(DATE_TRUNC('month', created_at)) AS cohort_month FROM sales.orders WHERE customer_id IS NOT NULL GROUP BY 1), activity AS (SELECT o.customer_id, c.cohort_month, (EXTRACT(YEAR FROM AGE(DATE_TRUNC('month', o.created_at), c.cohort_month)) * 12 + EXTRACT(MONTH FROM AGE(DATE_TRUNC('month', o.created_at), c.cohort_month)))::int AS month_number FROM sales.orders o JOIN cohort c USING (customer_id)) SELECT cohort_month, month_number, COUNT(DISTINCT customer_id) AS customers FROM activity GROUP BY 1, 2 ORDER BY 1, 2`,
    `SELECT *, ROUND(100.0 * n / SUM(n) OVER (), 2) AS pct FROM (SELECT COALESCE(status, 'none') AS status, COUNT(*) AS n FROM sales.orders GROUP BY 1) s ORDER BY n DESC, status`,
    `SELECT o.region, o.id, o.amount, o.amount - AVG(o.amount) OVER w AS diff, NTILE(2) OVER (w ORDER BY o.amount, o.id) AS half FROM sales.orders o WHERE o.amount IS NOT NULL WINDOW w AS (PARTITION BY o.region) ORDER BY o.region, o.id`,
    `SELECT CASE WHEN amount BETWEEN 0 AND 49.99 THEN '0-49' WHEN amount BETWEEN 50 AND 99.99 THEN '50-99' ELSE '100+' END AS bucket, COUNT(1), MODE() WITHIN GROUP (ORDER BY region) AS top FROM sales.orders WHERE region = 'EU' GROUP BY bucket ORDER BY bucket`,
    `SELECT SUM(CASE WHEN status = 'paid' THEN amount END) FILTER (WHERE region = 'EU') AS eu_paid, BOOL_OR(priority) AS any_priority, BOOL_AND(amount > 0) AS all_positive FROM sales.orders`,
    `SELECT width_bucket(discount, 0, 0.5, 5) AS b, count(*), min(discount), max(discount) FROM sales.orders WHERE discount IS NOT NULL GROUP BY 1 ORDER BY 1`,
  ]),
  ...of('Sigma', [
    `select "id", case when lag("region") over (order by "id") is distinct from "region" then 1 else 0 end as "Changed", nth_value("id", 2) over (partition by "region" order by "id" rows between unbounded preceding and unbounded following) as "Second" from "sales"."orders" order by "id"`,
    `select "REGION" as "Region_1", "SUM_2" as "Sum_2" from (select "region" as "REGION", sum("amount") as "SUM_2" from (select * from "sales"."orders") as Q1 group by "region") as Q2 order by "REGION" asc nulls last limit 100 offset 0`,
    `select count(1)::int4 as "CNT", min(count_if) as "C2" from (select sum(case when "priority" then 1 else 0 end) as count_if, 1 as one from "sales"."orders") as q cross join (select 1) as z`,
    `select Q1."id", Q1."cume", Q1."moving" from (select "id", sum("amount") over (order by "id" rows between unbounded preceding and current row) as "cume", avg("quantity") over (order by "id" rows between 2 preceding and 1 following) as "moving" from "sales"."orders") Q1 order by Q1."id"`,
    `select date_trunc('day', timezone('America/New_York', timezone('UTC', "created_at"))) as "Day", count(*) from "sales"."orders" group by 1 order by 1 nulls last`,
  ]),
  ...of('Hex', [
    `SELECT date_bin('15 minutes', created_at, TIMESTAMP '2024-01-01') AS slot, count(*) FROM sales.orders WHERE created_at IS NOT NULL GROUP BY 1 ORDER BY 1`,
    `SELECT s.region, s.status, s.total, first_value(s.status) OVER (PARTITION BY s.region ORDER BY s.total DESC NULLS LAST) AS best FROM (SELECT region, status, sum(amount) AS total FROM sales.orders GROUP BY region, status) s ORDER BY 1, 2`,
    `SELECT COUNT(*) AS row_count, COUNT(*) FILTER (WHERE amount IS NULL) AS missing, APPROX.p50 FROM sales.orders, LATERAL (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY quantity) AS p50 FROM sales.orders) AS APPROX GROUP BY APPROX.p50`,
    `SELECT * FROM (VALUES (1, 'one'), (2, 'two'), (3, NULL)) AS t(n, label) LEFT JOIN sales.orders o ON o.id = t.n ORDER BY t.n LIMIT 10`,
    `SELECT array_agg(DISTINCT region ORDER BY region) AS regions, array_length(array_agg(id), 1) AS n, (array_agg(id ORDER BY amount DESC NULLS LAST))[1] AS top FROM sales.orders`,
    `SELECT o.* FROM sales.orders AS o WHERE (o.region, o.status) IN (SELECT region, status FROM sales.orders GROUP BY 1, 2 HAVING COUNT(*) = 1) ORDER BY o.id`,
  ]),
  ...of('Lightdash', [
    `SELECT "c".country, COUNT(*) FILTER (WHERE "o".id IS NOT NULL) AS "orders", COALESCE(MAX("o".amount), 0) AS "max" FROM "sales"."customers" AS "c" LEFT JOIN "sales"."orders" AS "o" ON "c".id = "o".customer_id AND "o".status <> 'cancelled' GROUP BY 1 HAVING COUNT("o".id) BETWEEN 0 AND 5 ORDER BY 2 DESC, 1`,
    `WITH orders AS (SELECT DATE_TRUNC('MONTH', "orders".ordered_on) AS "orders_month", "orders".status AS "orders_status", SUM("orders".amount) AS "orders_total", AVG("orders".amount) AS "orders_avg" FROM "sales"."orders" AS "orders" LEFT OUTER JOIN "sales"."customers" AS "customers" ON ("orders".customer_id) = ("customers".id) WHERE ((LOWER("orders".status) LIKE LOWER('%PA%')) OR ("orders".status) IS NULL) GROUP BY 1, 2) SELECT *, "orders_total" / NULLIF(SUM("orders_total") OVER (PARTITION BY "orders_month"), 0) AS "share" FROM orders ORDER BY "orders_month" DESC NULLS LAST, "orders_status" LIMIT 500`,
    `WITH metrics AS (SELECT region AS "r", COUNT(DISTINCT id) AS "c" FROM "sales"."orders" GROUP BY 1), table_calculations AS (SELECT *, "c" - LAG("c") OVER (ORDER BY "r" ASC) AS "delta", ROW_NUMBER() OVER (ORDER BY "c" DESC, "r") AS "row" FROM metrics) SELECT * FROM table_calculations WHERE ("delta") IS DISTINCT FROM (0) ORDER BY "row"`,
    `SELECT "o".id, ("o".ordered_on)::DATE >= (DATE_TRUNC('YEAR', TIMESTAMP '2024-05-05'))::DATE AND ("o".ordered_on)::DATE <= ('2024-02-15')::DATE AS "in_period", TO_CHAR("o".ordered_on, 'FMMonth') AS "month_name", DATE_PART('WEEK', "o".ordered_on) AS "week" FROM "sales"."orders" AS "o" ORDER BY 1`,
  ]),
  ...of('Cube', [
    `SELECT "orders".status "orders__status", CASE WHEN grouping("orders".status) = 1 THEN NULL ELSE count(*) END "orders__count", (count(CASE WHEN "orders".priority THEN 1 END)::numeric / NULLIF(count(*), 0)) "orders__share" FROM sales.orders AS "orders" GROUP BY GROUPING SETS (("orders".status), ()) ORDER BY 1 NULLS LAST, 2`,
    `SELECT "orders".region "orders__region", date_trunc('day', ("orders".created_at::timestamptz AT TIME ZONE 'UTC')) "orders__created_day", count("orders".id) "orders__count", sum("orders".amount) "orders__total" FROM sales.orders AS "orders" WHERE ("orders".created_at >= '2024-01-01T00:00:00.000Z'::timestamptz AND "orders".created_at <= '2024-12-31T23:59:59.999Z'::timestamptz) GROUP BY 1, 2 ORDER BY 2 ASC, 1 LIMIT 10000`,
    `SELECT q_0."customers__city", "orders__total" "orders__total", "items__count" "items__count" FROM (SELECT "keys"."customers__city", sum("orders".amount) "orders__total" FROM (SELECT DISTINCT "customers".city "customers__city", "orders".id "orders__id" FROM sales.orders AS "orders" LEFT JOIN sales.items AS "items" ON "items".order_id = "orders".id LEFT JOIN sales.customers AS "customers" ON "customers".id = "orders".customer_id) AS "keys" LEFT JOIN sales.orders AS "orders" ON "keys"."orders__id" = "orders".id GROUP BY 1) AS q_0 INNER JOIN (SELECT "customers".city "customers__city", count(*) "items__count" FROM sales.orders AS "orders" LEFT JOIN sales.items AS "items" ON "items".order_id = "orders".id LEFT JOIN sales.customers AS "customers" ON "customers".id = "orders".customer_id GROUP BY 1) AS q_1 ON (q_0."customers__city" = q_1."customers__city" OR (q_0."customers__city" IS NULL AND q_1."customers__city" IS NULL)) ORDER BY 2 DESC NULLS LAST LIMIT 10000`,
    `SELECT "time_series"."date_from" "orders__day", sum("r"."n") "rolling" FROM (SELECT date_from::timestamp AS date_from, date_to::timestamp AS date_to FROM (VALUES ('2024-01-01T00:00:00.000', '2024-01-31T23:59:59.999'), ('2024-02-01T00:00:00.000', '2024-02-29T23:59:59.999')) AS dates (date_from, date_to)) AS "time_series" LEFT JOIN (SELECT date_trunc('day', created_at) AS d, count(*) AS n FROM sales.orders GROUP BY 1) AS "r" ON "r".d > "time_series"."date_to" - interval '60 day' AND "r".d <= "time_series"."date_to" GROUP BY 1 ORDER BY 1`,
  ]),
  ...of('Superset', [
    `SELECT DATE_TRUNC('day', created_at) AS __timestamp, region AS region, COUNT(*) AS count FROM sales.orders JOIN (SELECT region AS region__, sum(amount) AS mme_inner__ FROM sales.orders WHERE created_at >= TO_TIMESTAMP('2024-01-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') GROUP BY region ORDER BY mme_inner__ DESC LIMIT 2) AS series_limit ON region = region__ GROUP BY DATE_TRUNC('day', created_at), region ORDER BY count DESC, 1, 2 LIMIT 1000`,
    `SELECT region, sum(amount) AS "SUM(amount)", sum(amount) / sum(sum(amount)) OVER () AS share FROM sales.orders GROUP BY region HAVING sum(amount) > 0 ORDER BY 2 DESC`,
    `SELECT * FROM (SELECT o.id, o.status, unnest(o.tags) AS tag FROM sales.orders o) AS virtual_table WHERE tag IN ('a', 'b') ORDER BY id, tag LIMIT 1001`,
  ]),
  ...of('Metabase', [
    `SELECT "source"."created_at" AS "created_at", SUM("source"."count") OVER (ORDER BY "source"."created_at" ASC ROWS UNBOUNDED PRECEDING) AS "sum" FROM (SELECT DATE_TRUNC('month', "sales"."orders"."created_at") AS "created_at", COUNT(*) AS "count" FROM "sales"."orders" GROUP BY DATE_TRUNC('month', "sales"."orders"."created_at") ORDER BY DATE_TRUNC('month', "sales"."orders"."created_at") ASC) AS "source" ORDER BY "source"."created_at" ASC`,
    `SELECT FLOOR((("sales"."orders"."amount" - 0.0) / 125.0)) * 125.0 + 0.0 AS "amount", COUNT(*) AS "count" FROM "sales"."orders" WHERE ("sales"."orders"."amount" IS NOT NULL) AND (("sales"."orders"."status" <> 'cancelled') OR ("sales"."orders"."status" IS NULL)) GROUP BY FLOOR((("sales"."orders"."amount" - 0.0) / 125.0)) * 125.0 + 0.0 ORDER BY 1 ASC`,
    `SELECT CAST(EXTRACT(isodow FROM "sales"."orders"."created_at") AS integer) AS "dow", CAST(EXTRACT(doy FROM "sales"."orders"."ordered_on") AS integer) AS "doy", SUBSTRING("sales"."orders"."status" FROM 1 FOR 2) AS "s" FROM "sales"."orders" LIMIT 1048575`,
    `SELECT ("sales"."orders"."payload"::jsonb #>> array['k', 'x']::text[])::bigint AS "payload → k → x" FROM "sales"."orders" ORDER BY 1 NULLS LAST`,
  ]),
  ...of('Grafana', [
    `SELECT (extract(epoch from created_at) / 3600)::bigint * 3600 AS "time", region AS metric, avg(amount)::float8 AS value FROM sales.orders WHERE created_at BETWEEN '2024-01-01T00:00:00Z' AND '2024-12-31T00:00:00Z' GROUP BY 1, 2 ORDER BY 1, 2`,
    `SELECT time, last_value(v) OVER (PARTITION BY region ORDER BY time ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS last FROM (SELECT created_at AS time, quantity AS v, region FROM sales.orders WHERE created_at IS NOT NULL) s ORDER BY 1`,
    `SELECT g.t AS "time", coalesce(x.n, 0) AS n FROM generate_series('2024-01-01'::timestamptz, '2024-03-01'::timestamptz, '1 month'::interval) AS g(t) LEFT JOIN (SELECT date_trunc('month', shipped_at) AS t, count(*) AS n FROM sales.orders GROUP BY 1) x ON x.t = g.t ORDER BY 1`,
    `SELECT DISTINCT tag AS __text, tag AS __value FROM sales.orders, unnest(tags) AS tag WHERE tag ~* '^[a-c]$' ORDER BY 1`,
    `SELECT floor(extract(epoch from shipped_at)/86400)*86400 AS time, min(quantity), max(quantity), count(*) FILTER (WHERE status = 'open') AS "open orders" FROM sales.orders WHERE extract(epoch from shipped_at) >= 1704067200 AND extract(epoch from shipped_at) <= 1735689600 GROUP BY time ORDER BY time`,
  ]),
]
