package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"

	"libraries/api"
)

// generated mints with a client that oapi-codegen made of docs/openapi.yaml.
func generated(ctx context.Context) {
	client, err := api.NewClientWithResponses(os.Getenv("MINTMARK_URL"))
	check(err)
	token, err := os.ReadFile(os.Getenv("MINTMARK_TOKEN_FILE"))
	check(err)
	withToken := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+string(token))
		return nil
	}
	minted, err := client.MintWithResponse(ctx, nil, api.MintJSONRequestBody{Keys: []string{"deploy"}}, withToken)
	check(err)
	expect(minted.JSON200 != nil, "the answer of a mint was lost: "+minted.Status())
	members := minted.JSON200.Credentials["deploy"]
	expect(strings.HasPrefix(members["AWS_ACCESS_KEY_ID"], "ASIA"), fmt.Sprintf("%d members", len(members)))
	refused, err := client.MintWithResponse(ctx, nil, api.MintJSONRequestBody{Keys: []string{"spare"}}, withToken)
	check(err)
	expect(refused.JSON403 != nil, "a refusal was lost: "+refused.Status())
}
