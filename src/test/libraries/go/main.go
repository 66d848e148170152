// Libraries for Go get credentials of a broker.
package main

import (
	"context"
	"fmt"
	"log"
	"net/url"
	"os"
	"runtime/debug"
	"strings"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

func main() {
	broker := os.Getenv("MINTMARK_URL")
	os.Setenv("AWS_ENDPOINT_URL_STS", broker+"/sdk/sts")
	os.Setenv("AWS_WEB_IDENTITY_TOKEN_FILE", os.Getenv("MINTMARK_TOKEN_FILE"))
	os.Setenv("AWS_ROLE_ARN", "arn:aws:iam::000000000000:role/deploy")
	os.Setenv("AWS_REGION", "eu-central-1")
	ctx := context.Background()

	mine, err := config.LoadDefaultConfig(ctx)
	check(err)
	credentials, err := mine.Credentials.Retrieve(ctx)
	check(err)
	expect(strings.HasPrefix(credentials.AccessKeyID, "ASIA"), "no credentials")

	_, err = sts.NewFromConfig(mine).GetCallerIdentity(ctx, nil)
	expect(err != nil, "a signed call got an answer")
	expect(strings.Contains(err.Error(), "InvalidAction"), err.Error())
	expect(strings.Contains(err.Error(), "unset AWS_ENDPOINT_URL_STS"), err.Error())

	os.Setenv("AWS_ROLE_ARN", "arn:aws:iam::000000000000:role/spare")
	other, err := config.LoadDefaultConfig(ctx)
	check(err)
	_, err = other.Credentials.Retrieve(ctx)
	expect(err != nil, "a key without a grant was minted")
	expect(strings.Contains(err.Error(), "AccessDenied"), err.Error())
	expect(strings.Contains(err.Error(), "has no active grant for key 'spare'"), err.Error())

	assertion(ctx, broker)
	poolsOfPgx(ctx)
	generated(ctx)
	thin(ctx)
	agent(ctx)

	build, _ := debug.ReadBuildInfo()
	for _, module := range build.Deps {
		if strings.HasSuffix(module.Path, "/config") || strings.HasSuffix(module.Path, "/pgx/v5") ||
			strings.HasSuffix(module.Path, "/azidentity") || module.Path == "golang.org/x/oauth2" {
			fmt.Println(module.Path, module.Version)
		}
	}
}

// assertion gets a token by the client credentials grant of x/oauth2, with the identity token as the
// client's assertion (RFC 7523 section 2.2).
func assertion(ctx context.Context, broker string) {
	token, err := os.ReadFile(os.Getenv("MINTMARK_TOKEN_FILE"))
	check(err)
	client := clientcredentials.Config{
		TokenURL:  broker + "/oauth2/token",
		AuthStyle: oauth2.AuthStyleInParams,
		EndpointParams: url.Values{
			"client_assertion_type": {"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"},
			"client_assertion":      {strings.TrimSpace(string(token))},
			"audience":              {"api"},
		},
	}
	got, err := client.Token(ctx)
	check(err)
	expect(strings.HasPrefix(got.AccessToken, "eyJ"), "no token for a client assertion")
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
