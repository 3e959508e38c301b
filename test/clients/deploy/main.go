// Reads files of a deployment as the tools do that take them: a compose file by the reference implementation of the
// Compose specification, manifests by the typed API of Kubernetes. It starts nothing.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/compose-spec/compose-go/v2/cli"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/yaml"
)

const usage = "usage: deploy compose FILE ENV_FILE | manifests < YAML"

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(64)
	}
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(command string, args []string) error {
	switch {
	case command == "compose" && len(args) == 2:
		return compose(args[0], args[1])
	case command == "manifests" && len(args) == 0:
		return manifests(os.Stdin)
	}
	return errors.New(usage)
}

// compose prints the project as JSON, with the variables of the file of settings in place.
func compose(file, envFile string) error {
	options, err := cli.NewProjectOptions([]string{file}, cli.WithEnvFiles(envFile), cli.WithDotEnv, cli.WithName("covenant"))
	if err != nil {
		return err
	}
	project, err := cli.ProjectFromOptions(context.Background(), options)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(project)
}

// manifests decodes every document strictly: a field that its kind does not have, or has in another type, is an error.
func manifests(input io.Reader) error {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		appsv1.AddToScheme, corev1.AddToScheme, networkingv1.AddToScheme, policyv1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	strict := serializer.NewSerializerWithOptions(
		serializer.DefaultMetaFactory, scheme, scheme, serializer.SerializerOptions{Yaml: true, Strict: true},
	)
	documents := yaml.NewDocumentDecoder(io.NopCloser(input))
	kinds := []string{}
	buffer := make([]byte, 1<<20)
	for {
		size, err := documents.Read(buffer)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		document := buffer[:size]
		if len(bytes.TrimSpace(document)) == 0 {
			continue
		}
		_, kind, err := strict.Decode(document, nil, nil)
		if err != nil {
			return fmt.Errorf("%w\n%s", err, document)
		}
		kinds = append(kinds, kind.GroupVersion().String()+" "+kind.Kind)
	}
	return json.NewEncoder(os.Stdout).Encode(kinds)
}
