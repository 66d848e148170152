// The generator Webhook of the External Secrets Operator mints with the objects of docs/clients/tools.md.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"

	esv1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	genv1alpha1 "github.com/external-secrets/external-secrets/apis/generators/v1alpha1"
	_ "github.com/external-secrets/external-secrets/pkg/generator/webhook"
	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

const module = "github.com/external-secrets/external-secrets"

// cluster has one secret.
type cluster struct {
	client.Client
	secret corev1.Secret
}

func (c cluster) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	secret, ok := object.(*corev1.Secret)
	if !ok || key.Name != c.secret.Name || key.Namespace != "deployments" {
		return fmt.Errorf("no %T %s", object, key)
	}
	c.secret.DeepCopyInto(secret)
	return nil
}

func main() {
	objects := strings.Split(block(), "\n---\n")
	var generator genv1alpha1.Webhook
	var identity corev1.Secret
	var external esv1.ExternalSecret
	check(yaml.UnmarshalStrict([]byte(objects[0]), &generator))
	check(yaml.UnmarshalStrict([]byte(objects[1]), &identity))
	check(yaml.UnmarshalStrict([]byte(objects[2]), &external))
	expect(identity.Labels["external-secrets.io/type"] == "webhook", "a secret that the operator won't read")
	expect(external.APIVersion == esv1.SchemeGroupVersion.String(), external.APIVersion)
	named := external.Spec.DataFrom[0].SourceRef.GeneratorRef
	expect(named.APIVersion == generator.APIVersion && named.Name == generator.Name, "a generator that there isn't")

	token, err := os.ReadFile(os.Getenv("MINTMARK_TOKEN_FILE"))
	check(err)
	expect(identity.StringData["token"] == "IDENTITY_TOKEN", "no place for the token")
	identity.Data = map[string][]byte{"token": token} // as the API server stores stringData
	kubernetes := cluster{secret: identity}

	webhook, ok := genv1alpha1.GetGeneratorByName(named.Kind)
	expect(ok, named.Kind)
	generator.Spec.URL = strings.Replace(generator.Spec.URL, "https://mintmark.example.com", os.Getenv("MINTMARK_URL"), 1)
	values, _, err := webhook.Generate(context.Background(), raw(generator), kubernetes, "deployments")
	check(err)
	expect(strings.HasPrefix(string(values["AWS_ACCESS_KEY_ID"]), "ASIA"), "no credentials")
	expect(len(values["AWS_SESSION_TOKEN"]) > 0, "no session token")

	generator.Spec.Body = strings.Replace(generator.Spec.Body, "deploy", "spare", 1)
	_, _, err = webhook.Generate(context.Background(), raw(generator), kubernetes, "deployments")
	expect(err != nil && strings.Contains(err.Error(), "403"), fmt.Sprint("a key without a grant: ", err))

	build, _ := debug.ReadBuildInfo()
	for _, dependency := range build.Deps {
		if dependency.Path == module {
			fmt.Println(module, dependency.Version)
		}
	}
}

// block returns the objects of the page.
func block() string {
	page, err := os.ReadFile(filepath.Join(os.Getenv("DOCUMENTS"), "clients", "tools.md"))
	check(err)
	for _, found := range regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$").FindAllStringSubmatch(string(page), -1) {
		if strings.Contains(found[1], "generators.external-secrets.io") {
			return found[1]
		}
	}
	log.Fatal("the page has no objects for the operator")
	return ""
}

func raw(generator genv1alpha1.Webhook) *apiextensions.JSON {
	text, err := json.Marshal(generator)
	check(err)
	return &apiextensions.JSON{Raw: text}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func expect(holds bool, message string) {
	if !holds {
		log.Fatal(message)
	}
}
