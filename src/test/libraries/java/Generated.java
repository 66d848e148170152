import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.CredentialsApi;
import org.openapitools.client.model.Credentials;
import org.openapitools.client.model.MintRequest;

import java.nio.file.Files;
import java.nio.file.Path;

/** A client that openapi-generator makes of docs/openapi.yaml for java.net.http mints. */
class Generated {
    public static void main(String[] args) throws Exception {
        String token = Files.readString(Path.of(System.getenv("MINTMARK_TOKEN_FILE"))).strip();
        ApiClient client = new ApiClient();
        client.updateBaseUri(System.getenv("MINTMARK_URL"));
        client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + token));
        CredentialsApi api = new CredentialsApi(client);
        Credentials minted = api.mint(new MintRequest().addKeysItem("deploy"), null, null, null);
        check(minted.getCredentials().get("deploy").get("AWS_ACCESS_KEY_ID").startsWith("ASIA"), "no key");
        try {
            api.mint(new MintRequest().addKeysItem("spare"), null, null, null);
            throw new AssertionError("a key without a grant was minted");
        } catch (ApiException e) {
            check(e.getCode() == 403 && e.getResponseBody().contains("\"deniedKeys\""), e.toString());
        }
        System.out.println("openapi-generator java 7.18.0");
    }

    private static void check(boolean holds, String message) {
        if (!holds) {
            throw new AssertionError(message);
        }
    }
}
