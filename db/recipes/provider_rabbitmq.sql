-- RabbitMQ: clients log in with tokens that the broker signs for the client's subject (plugin rabbitmq_auth_backend_oauth2).
--
-- docs/providers/services.md#rabbitmq has the lines of rabbitmq.conf. Its resource_server_id is the audience of the key, and the
-- prefix of each scope. Clients send the token as the password; RabbitMQ ignores the user name.
--
-- RabbitMQ accepts a token of any tenant of the broker, so no other access provider may have this audience in allowed_targets.
-- Source: https://www.rabbitmq.com/docs/oauth2
\set SHOW_CONTEXT never

INSERT INTO broker.access_provider (tenant, name, type, allowed_targets)
VALUES ('acme', 'rabbitmq', 'jwt', '{rabbitmq.acme.example}');

-- A scope is PREFIX.PERMISSION:VHOST/NAME, where PERMISSION is configure, read or write, and NAME a queue or exchange.
INSERT INTO broker.key (tenant, name, provider, description, max_duration, settings)
VALUES ('acme', 'order-queue', 'rabbitmq', 'Publish and read orders', 600,
        '{"audience": "rabbitmq.acme.example",
          "claims": {"scope": "rabbitmq.acme.example.write:shop/orders rabbitmq.acme.example.read:shop/orders"}}');
