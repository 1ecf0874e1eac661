{{/* Mistakes that the schema cannot explain. */}}
{{- define "xvs-exporter.validate" -}}
{{- with .Values -}}
{{- $address := dig "web" "listen_address" ":20928" .config -}}
{{- if not (regexMatch "^:[0-9]+$" $address) -}}
{{- fail (printf "config.web.listen_address: expected :PORT, because Kubernetes connects to the address of the pod, found %q" $address) -}}
{{- end -}}
{{- $hasState := default false .state.enabled -}}
{{- $names := list -}}
{{- range .extraEnv -}}
{{- $names = append $names .name -}}
{{- end -}}
{{- range $name, $value := dict "NODE_OPTIONS" "nodeOptions" "XVS_WEB_LISTEN_ADDRESS" "config.web.listen_address" "XVS_SHARD_COUNT" "shards.count" "STATE_DIRECTORY" "the chart" "XVS_STATE_PATH" (ternary "state.enabled" "" $hasState) -}}
{{- if and $value (has $name $names) -}}
{{- fail (printf "extraEnv: expected no %s, because %s sets it, found one" $name $value) -}}
{{- end -}}
{{- end -}}
{{- if ne (len $names) (len (uniq $names)) -}}
{{- fail (printf "extraEnv: expected each name once, found %s" (join ", " $names)) -}}
{{- end -}}
{{- range .extraVolumes -}}
{{- if has .name (list "config" "secrets" "state") -}}
{{- fail (printf "extraVolumes: expected no %s, because the chart has a volume of that name, found one" .name) -}}
{{- end -}}
{{- end -}}
{{- range .extraVolumeMounts -}}
{{- if has (clean .mountPath) (list "/etc/xvs-exporter" "/run/secrets/xvs-exporter" "/var/lib/xvs-exporter") -}}
{{- fail (printf "extraVolumeMounts: expected no %s, because the chart mounts a volume there, found one" .mountPath) -}}
{{- end -}}
{{- end -}}
{{- $name := include "xvs-exporter.fullname" $ -}}
{{- $namespace := include "xvs-exporter.namespace" $ -}}
{{- with lookup "apps/v1" "StatefulSet" $namespace $name -}}
{{- $installed := not (empty (dig "spec" "volumeClaimTemplates" list .)) -}}
{{- if ne $installed $hasState -}}
{{- fail (printf "state.enabled: expected %v as installed, because Kubernetes cannot change the volume claims of a StatefulSet, found %v; run kubectl --namespace %s delete statefulset %s --cascade=orphan, and upgrade again" $installed $hasState $namespace $name) -}}
{{- end -}}
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
