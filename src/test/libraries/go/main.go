// Libraries for Go get credentials of a broker.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"runtime/debug"
	"strings"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sts"
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
