SELECT region, extract(quarter from day)::int AS quarter, MEASURE(revenue) FROM sales.orders__metrics
GROUP BY 1, 2 ORDER BY 1, 2 \crosstabview region quarter revenue
