/** Looker: derived tables as CTEs, DATE(…) strings by TO_CHAR, symmetric aggregates, yesno CASEs. */

import { of } from './query.ts'

export const looker = of('Looker', [
  `SELECT (TO_CHAR(DATE_TRUNC('month', orders.created_at), 'YYYY-MM')) AS "orders.created_month", COALESCE(SUM(orders.amount), 0) AS "orders.total" FROM sales.orders AS orders GROUP BY (DATE_TRUNC('month', orders.created_at)) ORDER BY 1 DESC FETCH NEXT 500 ROWS ONLY`,
  `SELECT TO_CHAR(created_at, 'YYYY-MM-DD HH24:MI:SS') AS ts, TO_CHAR(created_at, 'Mon DD, YYYY') AS d, TO_CHAR(created_at, 'Day') AS dn, TO_CHAR(created_at, 'HH12:MI AM') AS t, TO_CHAR(created_at, 'IYYY-IW') AS w, TO_CHAR(created_at, 'Q') AS q, TO_CHAR(created_at, 'FMMonth FMDD') AS fm, TO_CHAR(created_at, 'MS US') AS frac FROM sales.orders`,
  `SELECT CASE WHEN orders.amount > 50 THEN 'Yes' ELSE 'No' END AS "is_big", COUNT(*) AS "orders.count" FROM sales.orders AS orders GROUP BY 1 ORDER BY 2 DESC LIMIT 500`,
  `WITH facts AS (SELECT customer_id, COUNT(*) AS n, MIN(ordered_on) AS first FROM sales.orders GROUP BY customer_id) SELECT customers.name AS "customers.name", facts.n AS "facts.n", facts.first FROM sales.customers AS customers LEFT JOIN facts ON customers.id = facts.customer_id ORDER BY 1`,
  `SELECT customers.city AS city, COUNT(DISTINCT orders.id) AS n, COALESCE(SUM(items.price * items.qty), 0) AS revenue FROM sales.orders AS orders LEFT JOIN sales.customers AS customers ON orders.customer_id = customers.id LEFT JOIN sales.items AS items ON items.order_id = orders.id GROUP BY 1 ORDER BY 3 DESC, 1`,
  `SELECT COUNT(DISTINCT CASE WHEN (orders.status = 'paid') THEN orders.id ELSE NULL END) AS paid FROM sales.orders AS orders WHERE (orders.region) ILIKE 'e%'`,
  `SELECT orders.id, (EXTRACT(EPOCH FROM orders.shipped_at) - EXTRACT(EPOCH FROM orders.created_at)) / 3600 AS hours FROM sales.orders AS orders ORDER BY 1`,
  `SELECT id, age(shipped_at, created_at AT TIME ZONE 'UTC') AS a FROM sales.orders WHERE shipped_at IS NOT NULL ORDER BY 1`,
  `SELECT DATE_PART('day', shipped_at - created_at AT TIME ZONE 'UTC')::INT AS days FROM sales.orders`,
  `SELECT orders.id, DATE(orders.created_at) FROM sales.orders AS orders`.replace('DATE(orders.created_at)', 'orders.created_at::date'),
  `SELECT sub.* FROM (SELECT region, SUM(amount) AS total, RANK() OVER (ORDER BY SUM(amount) DESC) AS rk FROM sales.orders GROUP BY region) sub WHERE sub.rk <= 2 ORDER BY sub.rk`,
  `SELECT o.id, c.name FROM sales.orders o JOIN sales.customers c ON c.id = o.customer_id AND c.city IS NOT NULL WHERE o.amount::float > 10 ORDER BY o.id`,
  `SELECT id, amount::int AS i, discount::int AS d, amount::text AS t, quantity::numeric AS n, discount::numeric(5,1) AS n1, id::bool AS b, priority::int AS p FROM sales.orders`,
  `SELECT 2.5::int AS a, 3.5::int AS b, (-2.5)::int AS c, 2.5::float8::int AS d, 3.5::float8::int AS e, '  42 '::int AS f`,
  `SELECT round(2.5) AS a, round(2.5::float8) AS b, round(-1.5::float8) AS c, trunc(-1.567, 2) AS d, sign(-3.2) AS e, mod(-7, 3) AS f, abs(-5) AS g, ceil(-1.2) AS h`,
  `SELECT ln(10) AS a, log(1000) AS b, log(2, 8) AS c, exp(1) AS d, sqrt(16) AS e, power(2, 0.5) AS f, pi() AS g, degrees(pi()) AS h, atan2(1, 2) AS i, cbrt(27.0) AS j, width_bucket(5.35, 0.024, 10.06, 5) AS k`,
  `SELECT c.name, x.id FROM sales.customers c CROSS JOIN LATERAL (SELECT o.id FROM sales.orders o WHERE o.customer_id = c.id ORDER BY o.id DESC LIMIT 1) x ORDER BY 1`,
  `SELECT c.name, x.n FROM sales.customers c LEFT JOIN LATERAL (SELECT count(*) AS n FROM sales.orders o WHERE o.customer_id = c.id) x ON true ORDER BY 1`,
  `SELECT name FROM hr.employees WHERE manager_id IS NULL OR manager_id = ALL (SELECT 1) ORDER BY 1`.replace('manager_id = ALL (SELECT 1)', 'manager_id <> ALL (SELECT 1)'),
  `SELECT dept, count(*) AS n, min(name), max(name) FROM hr.employees GROUP BY dept HAVING count(*) > 1 ORDER BY dept`,
])
