\timing off
SELECT region, count(*) AS orders, sum(amount) AS total, avg(ratio) AS ratio FROM sales.orders GROUP BY region ORDER BY region;
SELECT id, day, placed_at, created, paid, note, payload FROM sales.orders ORDER BY id LIMIT 15;
\set limit 3
SELECT id, amount FROM sales.orders WHERE qty > 40 ORDER BY amount DESC, id LIMIT :limit;
SELECT date_trunc('month', placed_at) AS month, count(*) FROM sales.orders GROUP BY 1 ORDER BY 1;
SELECT nothing FROM sales.orders;
BEGIN;
SELECT count(*) FROM sales.orders;
SAVEPOINT a;
SELECT nothing FROM sales.orders;
ROLLBACK TO a;
SELECT count(*) FROM sales.orders WHERE paid;
COMMIT;
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM sales.orders ORDER BY id;
FETCH 3 FROM c;
FETCH NEXT FROM c;
CLOSE c;
ROLLBACK;
\copy (SELECT id, note FROM sales.orders ORDER BY id LIMIT 5) TO STDOUT WITH (FORMAT csv, HEADER)
SELECT id FROM sales.orders WHERE region = 'north' ORDER BY id LIMIT 2 \gx
