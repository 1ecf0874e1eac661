{{/* The endpoint of a ServiceMonitor or PodMonitor: (dict "root" $ "monitor" …). */}}
{{- define "xvs-exporter.endpoint" -}}
{{- with .monitor -}}
port: http
path: {{ dig "web" "telemetry_path" "/metrics" $.root.Values.config }}
scheme: {{ .scheme }}
{{- with .params }}
params:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tlsConfig }}
tlsConfig:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .basicAuth }}
basicAuth:
  {{- toYaml . | nindent 2 }}
{{- end }}
interval: {{ .interval }}
scrapeTimeout: {{ .scrapeTimeout }}
relabelings:
  # The job of the rules, which does not depend on the release name.
  - targetLabel: job
    replacement: {{ $.root.Values.prometheusRule.job | quote }}
  {{- with .relabelings }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .metricRelabelings }}
metricRelabelings:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
{{- end -}}

{{/* Selector and limits of a ServiceMonitor or PodMonitor: (dict "root" $ "monitor" …). */}}
{{- define "xvs-exporter.monitorSpec" -}}
{{- if .monitor.namespace -}}
namespaceSelector:
  matchNames:
    - {{ include "xvs-exporter.namespace" .root | quote }}
{{ end -}}
selector:
  matchLabels:
    {{- include "xvs-exporter.selectorLabels" .root | nindent 4 }}
{{- range $limit := list "sampleLimit" "targetLimit" "labelLimit" "labelNameLengthLimit" "labelValueLengthLimit" }}
{{- with get $.monitor $limit }}
{{ $limit }}: {{ int . }}
{{- end }}
{{- end }}
{{- end -}}
