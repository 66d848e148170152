{{/* The keys initContainers and volumes of a pod's spec, from ../../pods.yaml, by .Values.mintmark: url, keys, audience and
     perhaps image, if it isn't the one of ../../pods.yaml. A template has its path as its name, which begins with the name of the chart that uses this one. */}}
{{- define "mintmark.files" -}}
{{- $pod := (include (printf "%s/charts/mintmark-files/templates/_pods.yaml" .Chart.Name) . | fromYaml).spec.template.spec -}}
{{- $values := required "mintmark is required, with url, keys and audience" .Values.mintmark -}}
{{- $sidecar := first $pod.initContainers -}}
{{- $_ := set $sidecar "image" ($values.image | default $sidecar.image) -}}
{{- $_ := unset $sidecar "envFrom" -}}
{{- $_ := set $sidecar "env" (concat $sidecar.env (list
    (dict "name" "MINTMARK_URL" "value" (required "mintmark.url is required: the broker's URL" $values.url))
    (dict "name" "MINTMARK_KEYS" "value" (join " " (required "mintmark.keys is required: a list of keys" $values.keys))))) -}}
{{- $token := (first (last $pod.volumes).projected.sources).serviceAccountToken -}}
{{- $_ := set $token "audience" (required "mintmark.audience is required: one of the identity provider's audiences" $values.audience) -}}
{{- toYaml $pod -}}
{{- end }}
