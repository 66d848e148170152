package io.mintmark.provider.sts;

import java.time.Instant;

/** The documents that an STS answers with. */
final class StsXml {
    private static final String NAMESPACE = "https://sts.amazonaws.com/doc/2011-06-15/";
    private static final String REQUEST_ID = "c6104cbe-af31-11e0-8154-cbc7ccf896c7";

    private StsXml() {}

    static String credentials(StsCall call, int number, Instant expiry) {
        String action = call.parameters().getOrDefault("Action", "");
        return """
        <%1$sResponse xmlns="%2$s">
          <%1$sResult>
            <AssumedRoleUser>
              <Arn>arn:aws:sts::123456789012:assumed-role/Role/%3$s</Arn>
              <AssumedRoleId>AROACLKWSDQRAOEXAMPLE:%3$s</AssumedRoleId>
            </AssumedRoleUser>
            <Credentials>
              <AccessKeyId>ASIASTANDIN%4$09d</AccessKeyId>
              <SecretAccessKey>%5$s</SecretAccessKey>
              <SessionToken>%6$s</SessionToken>
              <Expiration>%7$s</Expiration>
            </Credentials>
          </%1$sResult>
          <ResponseMetadata><RequestId>%8$s</RequestId></ResponseMetadata>
        </%1$sResponse>
        """
                .formatted(
                        action,
                        NAMESPACE,
                        call.parameters().getOrDefault("RoleSessionName", ""),
                        number,
                        StsStandIn.secretKey(number),
                        StsStandIn.sessionToken(number),
                        expiry,
                        REQUEST_ID);
    }

    static String error(StsRefusal refusal) {
        return """
        <ErrorResponse xmlns="%s">
          <Error><Type>Sender</Type><Code>%s</Code><Message>%s</Message></Error>
          <RequestId>%s</RequestId>
        </ErrorResponse>
        """
                .formatted(NAMESPACE, refusal.code(), escaped(refusal.message()), REQUEST_ID);
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
