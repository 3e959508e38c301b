// pgx and lib/pq; one JSON line a step.
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/lib/pq"
)

const columns = "id, region, email, amount::text, qty, ratio, paid, day, placed_at, created, note, uid::text, payload"
const heavy = "select count(*) from sales.orders a, sales.orders b, sales.orders c, sales.orders d where a.id + b.id + c.id + d.id = 7"

func step(name string, action func() (any, error)) {
	value, err := action()
	line := map[string]any{"step": name}
	var pgx *pgconn.PgError
	var lib *pq.Error
	switch {
	case err == nil:
		line["value"] = value
	case errors.As(err, &pgx):
		line["error"] = pgx.Code
	case errors.As(err, &lib):
		line["error"] = string(lib.Code)
	case errors.Is(err, context.DeadlineExceeded):
		line["error"] = "deadline"
	default:
		fmt.Fprintln(os.Stderr, name, err)
		os.Exit(1)
	}
	text, _ := json.Marshal(line)
	fmt.Println(string(text))
}

func withPgx(mode string) {
	ctx := context.Background()
	config, err := pgx.ParseConfig("default_query_exec_mode=" + mode)
	if err != nil {
		panic(err)
	}
	connection, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		panic(err)
	}
	defer connection.Close(ctx)
	rows := func(query string, values ...any) (any, error) {
		found, err := connection.Query(ctx, query, values...)
		if err != nil {
			return nil, err
		}
		return pgx.CollectRows(found, func(row pgx.CollectableRow) ([]any, error) { return row.Values() })
	}
	name := "pgx " + mode + " "
	step(name+"types", func() (any, error) { return rows("select " + columns + " from sales.orders order by id limit 20") })
	step(name+"parameters", func() (any, error) {
		return rows("select id, email from sales.orders where region = $1 and qty > $2 order by id limit 5", "north", 10)
	})
	step(name+"ten times", func() (any, error) {
		var found []any
		for id := 1; id <= 10; id++ {
			row, err := rows("select email from sales.orders where id = $1", id)
			if err != nil {
				return nil, err
			}
			found = append(found, row)
		}
		return found, nil
	})
	step(name+"batch", func() (any, error) {
		batch := &pgx.Batch{}
		for _, region := range []string{"north", "south", "nowhere"} {
			batch.Queue("select count(*) from sales.orders where region = $1", region)
		}
		results := connection.SendBatch(ctx, batch)
		defer results.Close()
		var counts []int64
		for range 3 {
			var count int64
			if err := results.QueryRow().Scan(&count); err != nil {
				return nil, err
			}
			counts = append(counts, count)
		}
		return counts, nil
	})
	step(name+"copy", func() (any, error) {
		out := &countingWriter{}
		tag, err := connection.PgConn().CopyTo(ctx, out, "copy (select id, note from sales.orders order by id) to stdout")
		return []any{tag.String(), out.bytes}, err
	})
	step(name+"no table", func() (any, error) { return rows("select * from sales.nothing") })
	step(name+"goes on", func() (any, error) { return rows("select 1") })
}

type countingWriter struct{ bytes int }

func (w *countingWriter) Write(part []byte) (int, error) {
	w.bytes += len(part)
	return len(part), nil
}

func withLibPq() {
	mode := os.Getenv("PGSSLMODE")
	if mode == "" {
		mode = "disable"
	}
	db, err := sql.Open("postgres", "sslmode="+mode)
	if err != nil {
		panic(err)
	}
	defer db.Close()
	scan := func(found *sql.Rows, err error) (any, error) {
		if err != nil {
			return nil, err
		}
		defer found.Close()
		names, _ := found.Columns()
		rows := [][]any{}
		for found.Next() {
			row := make([]any, len(names))
			targets := make([]any, len(names))
			for index := range row {
				targets[index] = &row[index]
			}
			if err := found.Scan(targets...); err != nil {
				return nil, err
			}
			rows = append(rows, row)
		}
		return rows, found.Err()
	}
	step("pq types", func() (any, error) {
		return scan(db.Query("select " + columns + " from sales.orders order by id limit 20"))
	})
	step("pq parameters", func() (any, error) {
		return scan(db.Query("select id, email from sales.orders where region = $1 and qty > $2 order by id limit 5", "north", 10))
	})
	step("pq list", func() (any, error) {
		return scan(db.Query("select count(*) from sales.orders where id = any($1)", pq.Array([]int64{1, 2, 3})))
	})
	step("pq cancel", func() (any, error) {
		ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
		defer cancel()
		return scan(db.QueryContext(ctx, heavy))
	})
	step("pq no table", func() (any, error) { return scan(db.Query("select * from sales.nothing")) })
	step("pq goes on", func() (any, error) { return scan(db.Query("select 1")) })
}

func main() {
	for _, mode := range []string{"cache_statement", "describe_exec", "exec", "simple_protocol"} {
		withPgx(mode)
	}
	withLibPq()
}
