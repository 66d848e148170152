package main

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/aws/aws-sdk-go-v2/config"
	"golang.org/x/oauth2/google"
)

// agent serves AWS's SDK, x/oauth2 and azidentity by their default credentials, with nothing but the variables
// that it prints.
func agent(ctx context.Context) {
	command := exec.Command(os.Getenv("MINTMARK_CLIENT"), "agent", "deploy", "--azure", "entra", "--google", "cloud")
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	check(err)
	check(command.Start())
	defer command.Process.Signal(os.Interrupt)
	lines := bufio.NewScanner(out)
	for range 6 {
		expect(lines.Scan(), "the agent ended")
		name, value, _ := strings.Cut(lines.Text(), "=")
		os.Setenv(name, value)
	}

	for _, name := range []string{"AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ENDPOINT_URL_STS"} {
		os.Unsetenv(name)
	}
	mine, err := config.LoadDefaultConfig(ctx)
	check(err)
	aws, err := mine.Credentials.Retrieve(ctx)
	check(err)
	expect(strings.HasPrefix(aws.AccessKeyID, "ASIA"), "no credentials of AWS's")

	found, err := google.FindDefaultCredentials(ctx, "https://www.googleapis.com/auth/devstorage.read_only")
	check(err)
	token, err := found.TokenSource.Token()
	check(err)
	expect(strings.HasPrefix(token.AccessToken, "ya29."), "no token of Google's")

	azure, err := azidentity.NewDefaultAzureCredential(nil)
	check(err)
	entra, err := azure.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{"https://management.azure.com/.default"}})
	check(err)
	expect(strings.HasPrefix(entra.Token, "the-entra-token-"), "no token of Entra's")
}
