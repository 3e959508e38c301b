\set id random(1, 1000)
SELECT email, amount FROM sales.orders WHERE id = :id;
