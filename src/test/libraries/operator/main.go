// The generator Webhook of the External Secrets Operator mints with the objects of docs/clients/tools.md, and
// with the token that the page's pod writes.
package main

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	esv1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	genv1alpha1 "github.com/external-secrets/external-secrets/apis/generators/v1alpha1"
	_ "github.com/external-secrets/external-secrets/pkg/generator/webhook"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
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
	objects := block("generators.external-secrets.io")
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

	identity.Data = map[string][]byte{} // as the API server stores stringData
	for name, value := range renewed(identity) {
		expect(identity.StringData[name] == "IDENTITY_TOKEN", "no place for "+name)
		identity.Data[name] = []byte(value)
	}
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

// renewed runs the script of the pod that renews the token, and returns what it writes to the secret.
func renewed(identity corev1.Secret) map[string]string {
	objects := block("kind: Deployment")
	var account corev1.ServiceAccount
	var role rbacv1.Role
	var binding rbacv1.RoleBinding
	var deployment appsv1.Deployment
	for i, object := range []any{&account, &role, &binding, &deployment} {
		check(yaml.UnmarshalStrict([]byte(objects[i]), object))
	}
	rule, pod := role.Rules[0], deployment.Spec.Template.Spec
	expect(rule.Resources[0] == "secrets" && rule.ResourceNames[0] == identity.Name && rule.Verbs[0] == "patch", "a role")
	expect(binding.RoleRef.Name == role.Name && binding.Subjects[0].Name == account.Name, "a binding of others")
	expect(pod.ServiceAccountName == account.Name, "a pod of another account")

	written := make(chan map[string]string, 1)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		expect(r.Method == "PATCH" && r.URL.Path == "/api/v1/namespaces/deployments/secrets/"+identity.Name, r.URL.Path)
		expect(r.Header.Get("Authorization") == "Bearer of-the-account", "not the account's token")
		expect(r.Header.Get("Content-Type") == "application/merge-patch+json", r.Header.Get("Content-Type"))
		var patch struct {
			StringData map[string]string `json:"stringData"`
		}
		check(json.NewDecoder(r.Body).Decode(&patch))
		written <- patch.StringData
	}))
	defer server.Close()
	directory, err := os.MkdirTemp("", "pod")
	check(err)
	defer os.RemoveAll(directory)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	for name, content := range map[string]string{"token": "of-the-account", "namespace": "deployments", "ca.crt": string(authority)} {
		check(os.WriteFile(filepath.Join(directory, name), []byte(content), 0o600))
	}
	container := pod.Containers[0]
	mounted := filepath.Join(container.VolumeMounts[0].MountPath, pod.Volumes[0].Projected.Sources[0].ServiceAccountToken.Path)
	script := strings.NewReplacer(
		mounted, os.Getenv("MINTMARK_TOKEN_FILE"),
		"/var/run/secrets/kubernetes.io/serviceaccount", directory,
		"while true", "for once in 1",
		"https://kubernetes.default.svc", server.URL,
	).Replace(container.Args[0])
	command := exec.Command(container.Command[0], append(container.Command[1:], script)...)
	command.Stderr = os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	check(command.Start())
	defer syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
	select {
	case data := <-written:
		return data
	case <-time.After(time.Minute):
		log.Fatal("the pod wrote no token")
		return nil
	}
}

// block returns the objects of the page's block that contains a text.
func block(text string) []string {
	page, err := os.ReadFile(filepath.Join(os.Getenv("DOCUMENTS"), "clients", "tools.md"))
	check(err)
	for _, found := range regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$").FindAllStringSubmatch(string(page), -1) {
		if strings.Contains(found[1], text) {
			return strings.Split(found[1], "\n---\n")
		}
	}
	log.Fatal("the page has no block with " + text)
	return nil
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
