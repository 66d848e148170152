//! A client that openapi-generator makes of docs/openapi.yaml for reqwest mints.

use openapi::apis::configuration::Configuration;
use openapi::apis::credentials_api::{mint, MintError};
use openapi::apis::Error;
use openapi::models::MintRequest;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let variable = |name| std::env::var(name).expect(name);
    let token = std::fs::read_to_string(variable("MINTMARK_TOKEN_FILE")).expect("the token's file");
    let client = Configuration {
        base_path: variable("MINTMARK_URL"),
        bearer_access_token: Some(token.trim().to_owned()),
        ..Configuration::default()
    };

    let minted = mint(&client, MintRequest::new(vec!["deploy".into()]), None, None, None).await.expect("a mint");
    assert!(minted.credentials["deploy"]["AWS_ACCESS_KEY_ID"].starts_with("ASIA"));

    match mint(&client, MintRequest::new(vec!["spare".into()]), None, None, None).await {
        Err(Error::ResponseError(refused)) => match refused.entity {
            Some(MintError::Status403(error)) => assert_eq!(error.details.denied_keys, ["spare"]),
            other => panic!("{}: {other:?}", refused.status),
        },
        other => panic!("a key without a grant was minted: {other:?}"),
    }
    println!("openapi-generator rust 7.18.0");
}
