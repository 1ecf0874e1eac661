{{/* The chart name, or nameOverride. */}}
{{- define "xvs-exporter.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/*
Release and chart name, without repetition: a DNS label of at most 52 characters. Kubernetes adds eleven to it in the label
`controller-revision-hash` of the pods, where 63 are allowed. A release may have dots in its name, and begin with a digit, which
Kubernetes up to 1.33 does not allow for a Service.
*/}}
{{- define "xvs-exporter.fullname" -}}
{{- $name := include "xvs-exporter.name" . -}}
{{- $full := contains $name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name $name) -}}
{{- $full = default $full .Values.fullnameOverride | replace "." "-" -}}
{{- regexReplaceAll "^[0-9]" $full "x${0}" | trunc 52 | trimAll "-" -}}
{{- end -}}

{{- define "xvs-exporter.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride -}}
{{- end -}}

{{- define "xvs-exporter.selectorLabels" -}}
app.kubernetes.io/name: {{ include "xvs-exporter.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{/* Labels of the pod of `helm test`. */}}
{{- define "xvs-exporter.testLabels" -}}
app.kubernetes.io/name: {{ include "xvs-exporter.name" . | trunc 58 | trimAll "-" }}-test
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "xvs-exporter.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "xvs-exporter.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{/* Mappings as one, each key once; the first one that has it wins. */}}
{{- define "xvs-exporter.merge" -}}
{{- $merged := dict -}}
{{- range . -}}
{{- $merged = merge $merged (default dict .) -}}
{{- end -}}
{{- toYaml $merged -}}
{{- end -}}

{{/* Where a pod may run, as the values say it. */}}
{{- define "xvs-exporter.scheduling" -}}
{{- $set := dict -}}
{{- range $key := list "affinity" "nodeSelector" "priorityClassName" "tolerations" -}}
{{- with index $.Values $key -}}
{{- $_ := set $set $key . -}}
{{- end -}}
{{- end -}}
{{- with $set -}}
{{- toYaml . -}}
{{- end -}}
{{- end -}}

{{- define "xvs-exporter.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "xvs-exporter.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "xvs-exporter.secretName" -}}
{{- default (include "xvs-exporter.fullname" .) .Values.existingSecret -}}
{{- end -}}

{{- define "xvs-exporter.image" -}}
{{- $registry := default .Values.image.registry .Values.global.imageRegistry -}}
{{- with .Values.image -}}
{{- $name := empty $registry | ternary .repository (printf "%s/%s" $registry .repository) -}}
{{- if .digest -}}
{{- printf "%s@%s" $name .digest -}}
{{- else -}}
{{- printf "%s:%s" $name (default $.Chart.AppVersion .tag) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Charts write global names as strings or as mappings. */}}
{{- define "xvs-exporter.imagePullSecrets" -}}
{{- with concat (default list .Values.global.imagePullSecrets) (default list .Values.imagePullSecrets) -}}
imagePullSecrets:
  {{- range . }}
  - name: {{ if kindIs "string" . }}{{ quote . }}{{ else }}{{ quote .name }}{{ end }}
  {{- end }}
{{- end -}}
{{- end -}}

{{/* shards.count, or replicaCount without shards. */}}
{{- define "xvs-exporter.replicas" -}}
{{- if gt (int .Values.shards.count) 1 -}}
{{- .Values.shards.count -}}
{{- else -}}
{{- .Values.replicaCount -}}
{{- end -}}
{{- end -}}

{{/* The port of `config.web.listen_address`. */}}
{{- define "xvs-exporter.port" -}}
{{- regexFind "[0-9]+$" (dig "web" "listen_address" ":20928" .Values.config) -}}
{{- end -}}

{{/* Renders the templates in a value: (dict "root" $ "value" …). */}}
{{- define "xvs-exporter.render" -}}
{{- tpl (toYaml .value) .root -}}
{{- end -}}

{{/* Metadata of a resource: (dict "root" $), or with "name", "namespace" and "labels" of its own. */}}
{{- define "xvs-exporter.metadata" -}}
name: {{ default (include "xvs-exporter.fullname" .root) .name }}
namespace: {{ default (include "xvs-exporter.namespace" .root) .namespace | quote }}
labels:
  {{- $own := include "xvs-exporter.labels" .root | fromYaml }}
  {{- include "xvs-exporter.merge" (list $own .labels .root.Values.commonLabels) | nindent 2 }}
{{- with .annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The scheme of the web server, as the readiness probe has it. */}}
{{- define "xvs-exporter.scheme" -}}
{{- dig "httpGet" "scheme" "HTTP" (default dict .Values.readinessProbe) | lower -}}
{{- end -}}

{{/* The paths of the files that a switch renders, as keys. Without symbolic links, the folders are files. */}}
{{- define "xvs-exporter.files" -}}
{{- $paths := dict -}}
{{- range $path, $_ := .root.Files.Glob .pattern -}}
{{- $_ := set $paths $path true -}}
{{- end -}}
{{- if not $paths -}}
{{- fail (printf "%s: expected %s in the chart, found none; run git config core.symlinks true, and check out again" .switch .pattern) -}}
{{- end -}}
{{- toYaml $paths -}}
{{- end -}}
