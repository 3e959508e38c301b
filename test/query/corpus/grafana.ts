/** Grafana: $__timeGroup and $__timeFilter as they expand, epoch arithmetic, metric columns. */

import { of } from './query.ts'

export const grafana = of('Grafana', [
  `SELECT floor(extract(epoch from created_at)/86400)*86400 AS "time", count(*) AS value FROM sales.orders WHERE created_at BETWEEN '2024-01-01T00:00:00Z' AND '2024-12-31T00:00:00Z' GROUP BY 1 ORDER BY 1`,
  `SELECT date_trunc('minute', created_at) AS time, region AS metric, sum(amount) AS value FROM sales.orders WHERE created_at >= '2024-01-01T00:00:00Z' AND created_at <= '2024-06-01T00:00:00Z' GROUP BY time, metric ORDER BY time, metric`,
  `SELECT shipped_at AS "time", quantity FROM sales.orders WHERE shipped_at BETWEEN '2024-01-01T00:00:00Z' AND '2024-12-31T23:59:59Z' ORDER BY 1`,
  `SELECT extract(epoch from shipped_at)::bigint AS time_sec, amount FROM sales.orders ORDER BY 1`,
  `SELECT to_timestamp(floor((extract('epoch' from shipped_at) / 3600 )) * 3600) AS time, count(id) FROM sales.orders WHERE shipped_at IS NOT NULL GROUP BY 1 ORDER BY 1`,
  `SELECT created_at - interval '5 minutes' AS a, created_at + '1 hour'::interval AS b, shipped_at - interval '1 year 2 months 3 days 04:05:06.7' AS c FROM sales.orders ORDER BY 1`,
  `SELECT max(created_at) - min(created_at) AS span FROM sales.orders`,
  `SELECT region AS __text, region AS __value FROM sales.orders WHERE region ~* 'e' GROUP BY region ORDER BY 1`,
  `SELECT created_at::time AS t, date_part('hour', created_at) AS h FROM sales.orders ORDER BY 1`,
  `SELECT avg(amount) FILTER (WHERE region = 'EU') AS eu, avg(amount) FILTER (WHERE region = 'US') AS us FROM sales.orders WHERE created_at > '2024-01-01'`,
  `SELECT id, amount - lag(amount) OVER (ORDER BY created_at NULLS FIRST) AS delta, sum(amount) FILTER (WHERE region = 'EU') OVER (ORDER BY id) AS running FROM sales.orders ORDER BY id`,
  `SELECT created_at AS time, sum(amount) OVER (ORDER BY created_at RANGE BETWEEN INTERVAL '30 days' PRECEDING AND CURRENT ROW) AS month FROM sales.orders WHERE created_at IS NOT NULL ORDER BY 1`,
  `SELECT date_trunc('month', ordered_on) AS m, count(*) FROM sales.orders GROUP BY 1 ORDER BY 1`,
  `SELECT ordered_on + interval '1 day' AS d, ordered_on::timestamp AS t, ordered_on::timestamptz AS z, shipped_at::date AS sd, shipped_at::timestamp AS st, shipped_at::text AS x, created_at::text AS ct FROM sales.orders ORDER BY 1`,
  `SELECT make_date(2024, 2, 29) AS d, make_timestamp(2024, 1, 2, 3, 4, 5.5) AS t, date '2024-03-31' + interval '1 month' AS e, timestamp '2024-01-31' - interval '2 weeks' AS w`,
  `SELECT interval '1 day' * 3 AS a, interval '90 minutes' AS b, interval '1 mon' + interval '2 days' AS c, - interval '1 hour' AS d, INTERVAL '2' DAY AS e`,
  `SELECT date_bin('15 minutes', created_at, timestamp '2024-01-01') AS bin FROM sales.orders ORDER BY 1`,
  `SELECT count(*) AS n FROM sales.orders WHERE created_at >= now() - interval '100 years' AND ordered_on <= current_date`,
])
