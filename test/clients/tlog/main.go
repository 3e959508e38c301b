// Verifies what the service gives as proof with Go's own packages, which know nothing of the service.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type proof struct {
	Index      int64    `json:"index"`
	LeafHash   string   `json:"leaf_hash"`
	Hashes     []string `json:"hashes"`
	Checkpoint string   `json:"checkpoint"`
	Entry      string   `json:"entry"`
}

type consistency struct {
	Hashes []string `json:"hashes"`
	From   string   `json:"from_checkpoint"`
	To     string   `json:"to_checkpoint"`
}

type input struct {
	Key         string        `json:"key"`
	Proofs      []proof       `json:"proofs"`
	Consistency []consistency `json:"consistency"`
}

func check(err error) {
	if err != nil {
		fmt.Println("OUTCOME " + err.Error())
		os.Exit(1)
	}
}

func open(text string, verifiers note.Verifiers) tlog.Tree {
	opened, err := note.Open([]byte(text), verifiers)
	check(err)
	lines := strings.Split(opened.Text, "\n")
	size, err := strconv.ParseInt(lines[1], 10, 64)
	check(err)
	root, err := tlog.ParseHash(lines[2])
	check(err)
	return tlog.Tree{N: size, Hash: root}
}

func hashes(texts []string) []tlog.Hash {
	all := make([]tlog.Hash, 0, len(texts))
	for _, text := range texts {
		hash, err := tlog.ParseHash(text)
		check(err)
		all = append(all, hash)
	}
	return all
}

func main() {
	var given input
	file, err := os.ReadFile(os.Args[1])
	check(err)
	check(json.Unmarshal(file, &given))
	verifier, err := note.NewVerifier(given.Key)
	check(err)
	verifiers := note.VerifierList(verifier)
	for _, one := range given.Proofs {
		tree := open(one.Checkpoint, verifiers)
		leaf := tlog.RecordHash([]byte(one.Entry))
		check(tlog.CheckRecord(tlog.RecordProof(hashes(one.Hashes)), tree.N, tree.Hash, one.Index, leaf))
	}
	for _, one := range given.Consistency {
		from, to := open(one.From, verifiers), open(one.To, verifiers)
		check(tlog.CheckTree(tlog.TreeProof(hashes(one.Hashes)), to.N, to.Hash, from.N, from.Hash))
	}
	fmt.Printf("OUTCOME verified %d %d\n", len(given.Proofs), len(given.Consistency))
}
