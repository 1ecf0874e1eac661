{{/* Mistakes that the schema cannot explain. */}}
{{- define "xvs-exporter.validate" -}}
{{- with .Values -}}
{{- if hasKey .prometheusRule "bounds" -}}
{{- fail "prometheusRule.bounds: removed; disable the alert in prometheusRule.alerts, and add it with your bound to prometheusRule.additionalGroups" -}}
{{- end -}}
{{- if and .existingSecret .secrets -}}
{{- fail "existingSecret, secrets: expected one of them, found both; remove secrets, or existingSecret for a trial" -}}
{{- end -}}
{{- if and (gt (int .shards.count) 1) (ne (int .replicaCount) 1) -}}
{{- fail (printf "replicaCount: expected 1 with shards, found %v; shards.count is the number of pods" .replicaCount) -}}
{{- end -}}
{{- if and .serviceMonitor.enabled .podMonitor.enabled -}}
{{- fail "serviceMonitor.enabled, podMonitor.enabled: expected one of them, found both; each pod would be scraped twice" -}}
{{- end -}}
{{- if and .networkPolicy.enabled (not (include "xvs-exporter.upstreamPorts" $)) (not .networkPolicy.egress) -}}
{{- fail "networkPolicy.egress: expected a rule, because config has no base_url, found none; add the port of the service" -}}
{{- end -}}
{{- end -}}
{{- end -}}
