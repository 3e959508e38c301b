// GORM, Bun and Squirrel on pgx write what their users ask for of the corpus' tables; the argument names one. Prints a
// line for each query that fails.
package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/Masterminds/squirrel"
	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/driver/pgdriver"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"
)

var ctx = context.Background()

func dsn() string {
	env := os.Getenv
	return fmt.Sprintf("postgres://%s:%s@%s:%s/%s?sslmode=disable", env("PGUSER"), env("PGPASSWORD"), env("PGHOST"), env("PGPORT"), env("PGDATABASE"))
}

func version(module string) string {
	info, _ := debug.ReadBuildInfo()
	for _, each := range info.Deps {
		if each.Path == module {
			return each.Version
		}
	}
	return "unknown"
}

func failed(number int, err error) {
	if err != nil && err != gorm.ErrRecordNotFound && err != sql.ErrNoRows {
		fmt.Println("FAILED", number, strings.Split(err.Error(), "\n")[0])
	}
}

type Customer struct {
	bun.BaseModel `bun:"table:sales.customers,alias:c" gorm:"-"`
	ID            int    `bun:"id,pk"`
	Name          string `bun:"name"`
	City          *string
	Born          *time.Time
	Vip           *bool
	Orders        []Order `bun:"rel:has-many,join:id=customer_id"`
}

func (Customer) TableName() string { return "sales.customers" }

type Order struct {
	bun.BaseModel `bun:"table:sales.orders,alias:o" gorm:"-"`
	ID            int `bun:"id,pk"`
	CustomerID    *int
	Customer      *Customer `bun:"rel:belongs-to,join:customer_id=id"`
	Status        *string
	Region        string
	Amount        *string
	Discount      *float64
	Quantity      *int
	OrderedOn     *time.Time
	CreatedAt     *time.Time
	ShippedAt     *time.Time
	Priority      *bool
	Big           *int64
	Items         []Item `bun:"rel:has-many,join:id=order_id"`
}

func (Order) TableName() string { return "sales.orders" }

type Item struct {
	bun.BaseModel `bun:"table:sales.items,alias:i" gorm:"-"`
	OrderID       int `gorm:"primaryKey" bun:"order_id,pk"`
	Line          int `gorm:"primaryKey" bun:"line,pk"`
	Sku           string
	Price         string
	Qty           int64
}

func (Item) TableName() string { return "sales.items" }

var day = time.Date(2024, 2, 1, 0, 0, 0, 0, time.UTC)

func byGorm() {
	db, err := gorm.Open(postgres.Open(dsn()), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		panic(err)
	}
	fmt.Println("VERSION GORM", version("gorm.io/gorm"))
	o := func() *gorm.DB { return db.Model(&Order{}).Order("id") }
	var orders []Order
	var customers []Customer
	var ids []int
	var count int64
	var maps []map[string]any
	wheres := [][]any{
		{"id = ?", 3}, {"id IN ?", []int{1, 2}}, {"id NOT IN ?", []int{1, 2}}, {"id BETWEEN ? AND ?", 2, 5}, {"status = ?", "paid"}, {"status <> ?", "paid"}, {"status LIKE ?", "pa%"}, {"status ILIKE ?", "PA%"}, {"status IS NULL"}, {"amount > ?", 20}, {"amount > ?", 20.5}, {"discount = ?", 0.25}, {"ordered_on >= ?", day}, {"created_at < ?", day}, {"shipped_at > ?", day}, {"priority = ?", true}, {"big > ?", int64(1) << 40}, {"status = ? AND region = ?", "paid", "EU"}, {"status = @s OR region = @r", sql.Named("s", "paid"), sql.Named("r", "US")}, {&Order{Region: "EU"}}, {map[string]any{"status": "paid", "region": "EU"}}, {map[string]any{"id": []int{1, 2}}}, {[]int{1, 2, 3}}, {"(id, region) IN ?", [][]any{{1, "EU"}, {3, "US"}}}, {"amount > (?)", db.Table("sales.orders").Select("AVG(amount)")}, {"EXISTS (?)", db.Table("sales.items").Select("1").Where("order_id = orders.id")}, {"id IN (?)", db.Model(&Item{}).Select("order_id")}, {"? = ANY (tags)", "a"}, {"lower(status) = ?", "paid"}, {"payload::jsonb ->> 's' = ?", "t"}, {clause.Eq{Column: "status", Value: "paid"}}, {clause.Gt{Column: "amount", Value: 20}}, {clause.Like{Column: "status", Value: "pa%"}}, {clause.IN{Column: "id", Values: []any{1, 2}}}, {clause.Or(clause.Eq{Column: "status", Value: "paid"}, clause.Eq{Column: "region", Value: "US"})}, {db.Where("status = ?", "paid").Or("amount > ?", 50)},
	}
	number := 0
	run := func(tx *gorm.DB) { number++; failed(number, tx.Error) }
	for _, where := range wheres {
		run(o().Where(where[0], where[1:]...).Pluck("id", &ids))
		run(o().Not(where[0], where[1:]...).Pluck("id", &ids))
	}
	for _, each := range []string{"amount * quantity AS x", "COALESCE(amount, 0) AS x", "UPPER(status) AS x", "CASE WHEN amount > 50 THEN 'hi' ELSE 'lo' END AS x", "ROW_NUMBER() OVER (PARTITION BY region ORDER BY id) AS x", "date_trunc('month', created_at) AS x", "EXTRACT(year FROM ordered_on) AS x", "to_char(ordered_on, 'YYYY-MM') AS x"} {
		run(o().Select("id", each).Scan(&maps))
	}
	run(db.First(&Order{}, 1))
	run(db.First(&Order{}, "status = ?", "open"))
	run(db.Last(&Order{}))
	run(db.Where("id = ?", 1).Take(&Order{}))
	run(db.Order("id").Find(&orders))
	run(db.Order("id").Limit(3).Offset(2).Find(&orders))
	run(db.Order("amount DESC NULLS LAST, id").Limit(3).Find(&orders))
	run(db.Order(clause.OrderByColumn{Column: clause.Column{Name: "id"}, Desc: true}).Find(&orders))
	run(db.Model(&Order{}).Count(&count))
	run(db.Model(&Order{}).Where("status = ?", "paid").Count(&count))
	run(db.Model(&Order{}).Distinct("region").Count(&count))
	run(db.Model(&Order{}).Distinct("region").Order("region").Scan(&maps))
	run(db.Model(&Order{}).Select("region, COUNT(*) AS n, SUM(amount) AS t").Group("region").Having("COUNT(*) > ?", 1).Order("region").Scan(&maps))
	run(db.Model(&Order{}).Select("region, status, COUNT(*) AS n").Group("region").Group("status").Order("region, status").Scan(&maps))
	run(db.Model(&Order{}).Group("region").Count(&count))
	run(db.Order("sales.orders.id").Preload("Customer").Find(&orders))
	run(db.Order("id").Preload("Items").Preload("Customer").Find(&orders))
	run(db.Order("id").Preload("Items", "qty > ?", 3).Find(&orders))
	run(db.Order("id").Preload("Orders.Items").Find(&customers))
	run(db.Joins("Customer").Order("orders.id").Find(&orders))
	run(db.Joins("JOIN sales.customers c ON c.id = orders.customer_id AND c.city = ?", "Paris").Order("orders.id").Find(&orders))
	run(db.Joins("LEFT JOIN sales.items i ON i.order_id = orders.id").Where("i.sku = ?", "A-100").Order("orders.id").Find(&orders))
	run(db.Table("(?) AS s", db.Model(&Order{}).Select("region, SUM(amount) AS total").Group("region")).Where("total > ?", 10).Order("region").Scan(&maps))
	run(db.Table("sales.orders AS o").Select("o.id, c.name").Joins("JOIN sales.customers AS c ON c.id = o.customer_id").Order("o.id").Scan(&maps))
	run(db.Raw("SELECT region, COUNT(*) FROM sales.orders WHERE amount > ? GROUP BY region ORDER BY region", 5).Scan(&maps))
	run(db.Raw("WITH p AS (SELECT * FROM sales.orders WHERE status = @s) SELECT region, COUNT(*) FROM p GROUP BY region ORDER BY region", sql.Named("s", "paid")).Scan(&maps))
	run(db.Where("status = ?", "paid").FindInBatches(&orders, 2, func(*gorm.DB, int) error { return nil }))
	run(db.Scopes(func(tx *gorm.DB) *gorm.DB { return tx.Where("amount > ?", 10) }).Order("id").Find(&orders))
	run(db.Omit("status", "region").Order("id").Find(&orders))
	run(db.Select("id", "status").Order("id").Find(&orders))
	run(db.Clauses(clause.OrderBy{Expression: clause.Expr{SQL: "region = ? DESC, id", Vars: []any{"US"}}}).Find(&orders))
	run(db.Find(&[]Item{}, "order_id = ?", 1))
	run(db.First(&Item{OrderID: 1, Line: 2}))
	failed(0, db.Model(&Customer{ID: 1}).Association("Orders").Find(&orders))
	db.Model(&Customer{ID: 1}).Association("Orders").Count()
}

func byBun() {
	db := bun.NewDB(sql.OpenDB(pgdriver.NewConnector(pgdriver.WithDSN(dsn()))), pgdialect.New())
	fmt.Println("VERSION Bun", version("github.com/uptrace/bun"))
	var orders []Order
	var customers []Customer
	var maps []map[string]any
	var ids []int
	number := 0
	run := func(err error) { number++; failed(number, err) }
	o := func() *bun.SelectQuery { return db.NewSelect().Model((*Order)(nil)).Column("o.id").Order("o.id") }
	wheres := [][]any{
		{"o.id = ?", 3}, {"o.id IN (?)", bun.In([]int{1, 2})}, {"status = ?", "paid"}, {"status LIKE ?", "pa%"}, {"status IS NULL"}, {"amount > ?", 20.5}, {"ordered_on >= ?", day}, {"shipped_at > ?", day}, {"priority = ?", true}, {"big > ?", int64(1) << 40}, {"? = ?", bun.Ident("region"), "EU"}, {"(o.id, region) IN (?)", bun.In([][]any{{1, "EU"}, {3, "US"}})}, {"? = ANY (tags)", "a"}, {"tags && ?", pgdialect.Array([]string{"a", "c"})}, {"tags @> ?", pgdialect.Array([]string{"a"})}, {"o.id IN (?)", db.NewSelect().Model((*Item)(nil)).Column("order_id")}, {"EXISTS (?)", db.NewSelect().Model((*Item)(nil)).ColumnExpr("1").Where("i.order_id = o.id")}, {"amount > (?)", db.NewSelect().Model((*Order)(nil)).ColumnExpr("avg(amount)")},
	}
	for _, where := range wheres {
		run(o().Where(where[0].(string), where[1:]...).Scan(ctx, &ids))
	}
	run(o().WhereGroup(" AND ", func(q *bun.SelectQuery) *bun.SelectQuery { return q.Where("status = ?", "paid").WhereOr("region = ?", "US") }).Scan(ctx, &ids))
	run(db.NewSelect().Model(&orders).Order("o.id").Scan(ctx))
	run(db.NewSelect().Model(&orders).Order("o.id DESC").Limit(3).Offset(1).Scan(ctx))
	run(db.NewSelect().Model(&orders).OrderExpr("amount DESC NULLS LAST, o.id").Limit(3).Scan(ctx))
	run(db.NewSelect().Model(&orders).Relation("Customer").Order("o.id").Scan(ctx))
	run(db.NewSelect().Model(&orders).Relation("Items").Order("o.id").Scan(ctx))
	run(db.NewSelect().Model(&customers).Relation("Orders").Order("c.id").Scan(ctx))
	run(db.NewSelect().Model(&orders).ExcludeColumn("status").Order("o.id").Scan(ctx))
	run(db.NewSelect().Model((*Order)(nil)).Column("region").ColumnExpr("count(*) AS n").ColumnExpr("sum(amount) AS t").Group("region").Having("count(*) > ?", 1).Order("region").Scan(ctx, &maps))
	run(db.NewSelect().Model((*Order)(nil)).ColumnExpr("date_trunc('month', ordered_on) AS m").ColumnExpr("count(*) AS n").GroupExpr("1").OrderExpr("1").Scan(ctx, &maps))
	run(db.NewSelect().Model((*Order)(nil)).Distinct().Column("region").Order("region").Scan(ctx, &maps))
	run(db.NewSelect().Model((*Order)(nil)).DistinctOn("region").Column("region", "o.id").OrderExpr("region, o.id").Scan(ctx, &maps))
	run(db.NewSelect().With("p", db.NewSelect().Model((*Order)(nil)).Where("status = ?", "paid")).TableExpr("p").Column("region").ColumnExpr("count(*)").Group("region").Order("region").Scan(ctx, &maps))
	run(db.NewSelect().TableExpr("(?) AS s", db.NewSelect().Model((*Order)(nil)).Column("region").ColumnExpr("sum(amount) AS total").Group("region")).Where("total > ?", 10).Order("region").Scan(ctx, &maps))
	run(db.NewSelect().Model((*Order)(nil)).Column("o.id").ColumnExpr("c.name").Join("JOIN sales.customers AS c ON c.id = o.customer_id").Order("o.id").Scan(ctx, &maps))
	run(o().Union(db.NewSelect().Model((*Item)(nil)).Column("order_id")).Scan(ctx, &ids))
	run(db.NewSelect().Model((*Order)(nil)).Column("id").UnionAll(db.NewSelect().Model((*Item)(nil)).Column("order_id")).Scan(ctx, &ids))
	run(db.NewSelect().Model((*Customer)(nil)).Column("id").Except(db.NewSelect().Model((*Order)(nil)).Column("customer_id")).Scan(ctx, &ids))
	run(db.NewSelect().Model((*Order)(nil)).Column("o.id").ColumnExpr("row_number() OVER (PARTITION BY region ORDER BY o.id) AS n").Order("o.id").Scan(ctx, &maps))
	run(db.NewRaw("SELECT region, count(*) FROM sales.orders WHERE amount > ? GROUP BY region ORDER BY region", 5).Scan(ctx, &maps))
	values := db.NewValues(&[]struct {
		N int
		S string
	}{{1, "a"}, {2, "b"}})
	run(db.NewSelect().With("v", values).TableExpr("v").Column("v.s").Join("JOIN sales.orders AS o ON o.id = v.n").Order("v.s").Scan(ctx, &maps))
	_, err := db.NewSelect().Model((*Order)(nil)).Where("status = ?", "paid").Count(ctx)
	run(err)
	_, err = db.NewSelect().Model((*Order)(nil)).Where("status = ?", "paid").Exists(ctx)
	run(err)
	_, err = db.NewSelect().Model(&orders).Order("o.id").Limit(2).ScanAndCount(ctx)
	run(err)
	run(db.NewSelect().Model(&Order{ID: 1}).WherePK().Scan(ctx))
	run(db.NewSelect().Model(&Item{OrderID: 1, Line: 2}).WherePK().Scan(ctx))
}

func bySquirrel() {
	conn, err := pgx.Connect(ctx, dsn())
	if err != nil {
		panic(err)
	}
	fmt.Println("VERSION Squirrel", version("github.com/Masterminds/squirrel"), "on pgx", version("github.com/jackc/pgx/v5"))
	b := squirrel.StatementBuilder.PlaceholderFormat(squirrel.Dollar)
	number := 0
	run := func(q squirrel.Sqlizer) {
		number++
		text, args, err := q.ToSql()
		failed(number, err)
		rows, err := conn.Query(ctx, text, args...)
		failed(number, err)
		if err == nil {
			_, err = pgx.CollectRows(rows, pgx.RowToMap)
			failed(number, err)
		}
	}
	o := func() squirrel.SelectBuilder { return b.Select("id").From("sales.orders o").OrderBy("id") }
	preds := []any{
		squirrel.Eq{"id": 3}, squirrel.Eq{"id": []int{1, 2}}, squirrel.Eq{"status": nil}, squirrel.Eq{"status": "paid", "region": "EU"}, squirrel.NotEq{"status": "paid"}, squirrel.NotEq{"id": []int{1, 2}}, squirrel.Lt{"amount": 50}, squirrel.LtOrEq{"quantity": 3}, squirrel.Gt{"discount": 0.1}, squirrel.GtOrEq{"ordered_on": day}, squirrel.Like{"status": "pa%"}, squirrel.NotLike{"status": "pa%"}, squirrel.ILike{"status": "PA%"}, squirrel.NotILike{"status": "PA%"}, squirrel.Or{squirrel.Eq{"status": "paid"}, squirrel.Eq{"region": "US"}}, squirrel.And{squirrel.Eq{"status": "paid"}, squirrel.Gt{"amount": 5}}, squirrel.Expr("lower(status) = ?", "paid"), squirrel.Expr("id = ANY (?)", []int32{1, 2}), squirrel.Expr("tags && ?", []string{"a", "c"}), squirrel.Expr("region = ANY (?)", []string{"EU", "US"}), squirrel.Expr("shipped_at > ?", day), squirrel.Expr("created_at < ?", day), squirrel.Expr("big > ?", int64(1)<<40), squirrel.Expr("priority = ?", true), squirrel.Expr("exists (select 1 from sales.items i where i.order_id = o.id and i.price > ?)", 5), squirrel.Expr("amount > ?::numeric", "20.5"), squirrel.Expr("payload::jsonb ->> ? = ?", "s", "t"), squirrel.Expr("ordered_on + ?::int > ?", 7, day), squirrel.Expr("created_at > ?::timestamp - ?::interval", day, "2 days"), squirrel.ConcatExpr("id IN (", squirrel.Select("order_id").From("sales.items").Where(squirrel.Gt{"price": 5}), ")"),
	}
	for _, pred := range preds {
		run(o().Where(pred))
	}
	run(b.Select("*").From("sales.orders").OrderBy("id"))
	run(o().Limit(3).Offset(2))
	run(o().Suffix("FETCH FIRST 2 ROWS ONLY"))
	run(b.Select("region").Distinct().From("sales.orders").OrderBy("region"))
	run(b.Select("region", "count(*) AS n", "sum(amount) AS t").From("sales.orders").GroupBy("region").Having("count(*) > ?", 1).OrderBy("region"))
	run(b.Select("o.id", "c.name").From("sales.orders o").Join("sales.customers c ON c.id = o.customer_id AND c.city = ?", "Paris").OrderBy("o.id"))
	run(b.Select("o.id", "i.sku").From("sales.orders o").LeftJoin("sales.items i ON i.order_id = o.id").OrderBy("o.id", "i.line"))
	run(b.Select("o.id", "i.sku").From("sales.orders o").RightJoin("sales.items i ON i.order_id = o.id").OrderBy("i.sku", "o.id"))
	run(b.Select("o.id", "c.id AS cid").From("sales.orders o").CrossJoin("sales.customers c").OrderBy("o.id", "c.id"))
	run(b.Select("s.region").FromSelect(squirrel.Select("region", "sum(amount) AS total").From("sales.orders").GroupBy("region"), "s").Where(squirrel.Gt{"s.total": 10}).OrderBy("s.region"))
	run(b.Select("id").Column(squirrel.Case("status").When("'paid'", "1").Else("0")).From("sales.orders").OrderBy("id"))
	run(b.Select("id").Column(squirrel.Alias(squirrel.Case().When(squirrel.Gt{"amount": 50}, "'hi'").Else("'lo'"), "band")).From("sales.orders").OrderBy("id"))
	run(b.Select("id").Column("amount * ? AS x", 2).From("sales.orders").OrderBy("id"))
	run(b.Select("id").Column("round(amount * ?, 2) AS x", 0.19).From("sales.orders").OrderBy("id"))
	run(b.Select("region").From("p").Prefix("WITH p AS (SELECT region FROM sales.orders WHERE status = ?)", "paid").OrderBy("region"))
	run(b.Select("id").From("sales.orders").Suffix("UNION SELECT order_id FROM sales.items ORDER BY 1"))
}

func main() {
	map[string]func(){"gorm": byGorm, "bun": byBun, "squirrel": bySquirrel}[os.Args[1]]()
}
