// Iceberg's Go client sets a property of the tables that are named, in one transaction; one line says what came of it.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog"
	"github.com/apache/iceberg-go/catalog/rest"
)

func main() {
	if err := transact(context.Background(), os.Args[1:]); err != nil {
		fmt.Println("\nOUTCOME " + strings.ReplaceAll(err.Error(), "\n", " "))
		return
	}
	fmt.Println("\nOUTCOME committed")
}

func transact(ctx context.Context, names []string) error {
	headers := map[string]string{"X-Svc-Session": os.Getenv("SESSION")}
	client, err := rest.NewCatalog(ctx, "covenant", os.Getenv("URI"), rest.WithHeaders(headers))
	if err != nil {
		return err
	}
	transaction, err := catalog.NewMultiTableTransaction(client)
	if err != nil {
		return err
	}
	for _, name := range names {
		table, err := client.LoadTable(ctx, catalog.ToIdentifier("sales", name))
		if err != nil {
			return err
		}
		change := table.NewTransaction()
		if err := change.SetProperties(iceberg.Properties{"owner": name}); err != nil {
			return err
		}
		if err := transaction.AddTransaction(change); err != nil {
			return err
		}
	}
	return transaction.Commit(ctx)
}
