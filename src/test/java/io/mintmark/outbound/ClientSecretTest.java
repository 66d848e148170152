package io.mintmark.outbound;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ClientSecretTest {
    private final ClientSecret client = new ClientSecret("mm", new Secret("SUPER secret+1"));

    @ParameterizedTest
    @CsvSource({
        "invalid_client: secret SUPER secret+1., invalid_client: secret [secret].",
        "got SUPER+secret%2B1 from mm, got [secret] from mm",
        "got Basic bW06U1VQRVIrc2VjcmV0JTJCMQ==, got Basic [secret]",
        "got bW06U1VQRVIrc2VjcmV0JTJCMQ, got [secret]",
        "nothing of it, nothing of it"
    })
    void is_hidden_in_whatever_form_it_is_quoted(String said, String shown) {
        assertEquals(shown, client.hiddenIn(said));
    }
}
