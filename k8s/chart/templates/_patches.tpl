{{/* The objects are those of ../base and its neighbours, read as they are. These change them in place
     by the values, and print nothing. */}}

{{- define "mintmark.image" -}}
{{- $image := .Values.image -}}
{{- $name := required "image.repository is required: the registry that you pushed the image to" $image.repository -}}
{{- if $image.digest }}{{ $name }}@{{ $image.digest }}{{ else }}{{ $name }}:{{ $image.tag | default .Chart.AppVersion }}{{ end -}}
{{- end }}

{{/* The settings of all containers, as a map. */}}
{{- define "mintmark.settings" -}}
{{- $settings := dict
    "BROKER_URL" (required "broker.url is required: the URL that clients use" .Values.broker.url)
    "DATABASE_START_TIMEOUT" "PT2M"
    "DATABASE_URL" (required "database.url is required, such as jdbc:postgresql://db.example.com/mintmark?sslmode=verify-full&…" .Values.database.url) -}}
{{- if .Values.console.enabled }}{{ $_ := set $settings "BROKER_CONSOLE_URL" .Values.console.url }}{{ end -}}
{{- with .Values.broker.issuer }}{{ $_ := set $settings "BROKER_ISSUER" . }}{{ end -}}
{{- with .Values.broker.trustedProxies }}{{ $_ := set $settings "TRUSTED_PROXIES" (join "," .) }}{{ end -}}
{{- range $name, $value := .Values.settings }}{{ $_ := set $settings $name (toString $value) }}{{ end -}}
{{- toYaml $settings }}
{{- end }}

{{- define "mintmark.consoleSettings" -}}
{{- $settings := dict
    "CONSOLE_URL" (required "console.url is required by console.enabled" .Values.console.url)
    "CONSOLE_OIDC_ISSUER" (required "console.oidcIssuer is required by console.enabled" .Values.console.oidcIssuer)
    "CONSOLE_OIDC_CLIENT_ID" (required "console.oidcClientId is required by console.enabled" .Values.console.oidcClientId) -}}
{{- range $name, $value := .Values.console.settings }}{{ $_ := set $settings $name (toString $value) }}{{ end -}}
{{- toYaml $settings }}
{{- end }}

{{/* Mounts a volume into the first container of a pod: .pod, .name, .path, .source. */}}
{{- define "mintmark.mount" -}}
{{- $container := first .pod.containers -}}
{{- $_ := set .pod "volumes" (append .pod.volumes (merge (dict "name" .name) .source)) -}}
{{- $_ := set $container "volumeMounts" (append $container.volumeMounts (dict "name" .name "mountPath" .path "readOnly" true)) -}}
{{- end }}

{{/* Sets variables of the first container of a pod: .pod, .variables. */}}
{{- define "mintmark.variables" -}}
{{- $container := first .pod.containers -}}
{{- range $name, $value := .variables -}}
{{- $_ := set $container "env" (append $container.env (dict "name" $name "value" $value)) -}}
{{- end -}}
{{- end }}

{{/* Where pods run, and what they are annotated with: .template of the workload, .root. */}}
{{- define "mintmark.placement" -}}
{{- $pods := .root.Values.pods -}}
{{- $spec := .template.spec -}}
{{- with $pods.nodeSelector }}{{ $_ := set $spec "nodeSelector" . }}{{ end -}}
{{- with $pods.tolerations }}{{ $_ := set $spec "tolerations" . }}{{ end -}}
{{- with $pods.affinity }}{{ $_ := set $spec "affinity" . }}{{ end -}}
{{- with $pods.priorityClassName }}{{ $_ := set $spec "priorityClassName" . }}{{ end -}}
{{- with $pods.annotations }}{{ $_ := set $.template.metadata "annotations" (merge ($.template.metadata.annotations | default dict) .) }}{{ end -}}
{{- end }}

{{/* Changes the first container of a pod: .pod, .values with resources, javaOptions and probes. */}}
{{- define "mintmark.container" -}}
{{- $container := first .pod.containers -}}
{{- with .values.resources }}{{ $_ := mergeOverwrite $container.resources . }}{{ end -}}
{{- with .values.javaOptions -}}
{{- include "mintmark.variables" (dict "pod" $.pod "variables" (dict "JAVA_OPTS" .)) -}}
{{- end -}}
{{- range $probe, $fields := .values.probes -}}
{{- $_ := set $container (printf "%sProbe" $probe) (mergeOverwrite (get $container (printf "%sProbe" $probe)) $fields) -}}
{{- end -}}
{{- end }}

{{/* What all pods have: .pod, .root. */}}
{{- define "mintmark.pod" -}}
{{- $_ := set (first .pod.containers) "image" (include "mintmark.image" .root) -}}
{{- with .root.Values.image.pullSecrets -}}
{{- $names := list -}}
{{- range . }}{{ $names = append $names (dict "name" .) }}{{ end -}}
{{- $_ := set $.pod "imagePullSecrets" $names -}}
{{- end -}}
{{- with .root.Values.database.caConfigMap -}}
{{- include "mintmark.mount" (dict "pod" $.pod "name" "database-ca" "path" "/database-ca" "source" (dict "configMap" (dict "name" .))) -}}
{{- end -}}
{{- end }}

{{/* TLS at a port: .pod, .secret, .prefix of the settings. */}}
{{- define "mintmark.tls" -}}
{{- include "mintmark.mount" (dict "pod" .pod "name" "tls" "path" "/secrets/tls" "source" (dict "secret" (dict "secretName" .secret))) -}}
{{- $certificate := printf "%s_TLS_CERTIFICATE_FILE" .prefix -}}
{{- $key := printf "%s_TLS_KEY_FILE" .prefix -}}
{{- include "mintmark.variables" (dict "pod" .pod "variables" (dict $certificate "/secrets/tls/tls.crt" $key "/secrets/tls/tls.key")) -}}
{{- end }}

{{/* What a pod with a replica's program has: .template of the workload, .root. */}}
{{- define "mintmark.replica" -}}
{{- $root := .root -}}
{{- $pod := .template.spec -}}
{{- include "mintmark.pod" (dict "pod" $pod "root" $root) -}}
{{- include "mintmark.placement" (dict "template" .template "root" $root) -}}
{{- include "mintmark.container" (dict "pod" $pod "values" $root.Values.broker) -}}
{{- if $root.Values.tls.broker -}}
{{- include "mintmark.tls" (dict "pod" $pod "secret" $root.Values.tls.broker "prefix" "SERVER") -}}
{{- end -}}
{{- if $root.Values.tenantSecrets -}}
{{- $sources := list -}}
{{- range $tenant, $secret := $root.Values.tenantSecrets -}}
{{- $items := list -}}
{{- range required (printf "tenantSecrets.%s.files is required: the keys of the secret" $tenant) $secret.files -}}
{{- $items = append $items (dict "key" . "path" (printf "%s/%s" $tenant .)) -}}
{{- end -}}
{{- $sources = append $sources (dict "secret" (dict "name" $secret.name "items" $items)) -}}
{{- end -}}
{{- include "mintmark.mount" (dict "pod" $pod "name" "tenants" "path" "/secrets/tenants" "source" (dict "projected" (dict "sources" $sources))) -}}
{{- include "mintmark.variables" (dict "pod" $pod "variables" (dict "SECRETS_DIR" "/secrets/tenants")) -}}
{{- end -}}
{{- end }}

{{/* Annotates what the pods of a workload are made of: .workload, .settings (replicas are new when they
     change), .secrets (which aren't reread), .root. */}}
{{- define "mintmark.reload" -}}
{{- $pod := .workload.spec.template.metadata -}}
{{- $_ := set $pod "annotations" (merge (dict "checksum/settings" (sha256sum .settings)) ($pod.annotations | default dict)) -}}
{{- if and .root.Values.reloader .secrets -}}
{{- $_ := set .workload.metadata "annotations" (dict "secret.reloader.stakater.com/reload" .secrets) -}}
{{- end -}}
{{- end }}

{{/* Lets the pods of a policy connect to the database, and to a list as in `egress`: .policy, .to, .root. */}}
{{- define "mintmark.egress" -}}
{{- $rules := .policy.spec.egress -}}
{{- $database := .root.Values.database -}}
{{- $peers := list -}}
{{- range required "database.cidrs is required: the addresses of the database, such as [10.20.0.7/32]" (empty $database.cidrs | ternary nil $database.cidrs) -}}
{{- $peers = append $peers (dict "ipBlock" (dict "cidr" .)) -}}
{{- end -}}
{{- $rules = append $rules (dict "to" $peers "ports" (list (dict "protocol" "TCP" "port" (int $database.port)))) -}}
{{- range .to -}}
{{- $entry := . -}}
{{- $peers := list -}}
{{- range .cidrs -}}
{{- $block := dict "cidr" . -}}
{{- with $entry.except }}{{ $_ := set $block "except" . }}{{ end -}}
{{- $peers = append $peers (dict "ipBlock" $block) -}}
{{- end -}}
{{- $peers = concat $peers (.to | default list) -}}
{{- if not $peers }}{{ fail (printf "egress: the entry for %q needs cidrs or to, or it would allow all addresses" .for) }}{{ end -}}
{{- $rules = append $rules (dict "to" $peers "ports" (list (dict "protocol" "TCP" "port" (int (.port | default 443))))) -}}
{{- end -}}
{{- $_ := set .policy.spec "egress" $rules -}}
{{- end }}

{{/* Names the namespace that a rule of ingress lets in: .rule, .namespace. */}}
{{- define "mintmark.from" -}}
{{- $_ := set (first .rule.from).namespaceSelector.matchLabels "kubernetes.io/metadata.name" .namespace -}}
{{- end }}

{{/* A route of the gateway: .route, .section, .host, .tls, .root. */}}
{{- define "mintmark.route" -}}
{{- $parent := .root.Values.gateway.parent -}}
{{- $reference := dict "name" $parent.name -}}
{{- with $parent.namespace }}{{ $_ := set $reference "namespace" . }}{{ end -}}
{{- with .section }}{{ $_ := set $reference "sectionName" . }}{{ end -}}
{{- $_ := set .route.spec "parentRefs" (list $reference) -}}
{{- $_ := set .route.spec "hostnames" (list (required "gateway.brokerHost, and with the console gateway.consoleHost, are required by gateway.parent" .host)) -}}
{{- end }}
