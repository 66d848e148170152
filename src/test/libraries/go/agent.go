package main

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"golang.org/x/oauth2/google"
)

// agent serves x/oauth2 and azidentity by their default credentials, with nothing but the variables
// that it prints.
func agent(ctx context.Context) {
	command := exec.Command(os.Getenv("MINTMARK_CLIENT"), "agent", "--azure", "entra", "--google", "cloud")
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	check(err)
	check(command.Start())
	defer command.Process.Signal(os.Interrupt)
	lines := bufio.NewScanner(out)
	for range 4 {
		expect(lines.Scan(), "the agent ended")
		name, value, _ := strings.Cut(lines.Text(), "=")
		os.Setenv(name, value)
	}

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
