{{- define "connector.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{/* Short enough for the longest suffix. */}}
{{- define "connector.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else if contains (include "connector.name" .) .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "connector.name" .) | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "connector.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "connector.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{/* What pods are found by: never changed after the first install. */}}
{{- define "connector.selector" -}}
app.kubernetes.io/name: {{ include "connector.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "connector.labels" -}}
{{ include "connector.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "connector.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{/* Which deployment takes webhooks; empty: none. */}}
{{- define "connector.webhookComponent" -}}
{{- if has "reviews" .Values.flows -}}
{{- if and .Values.reviews.separate (gt (len .Values.flows) 1) -}}reviews{{- else -}}connector{{- end -}}
{{- end -}}
{{- end -}}

{{/*
Whether a flow of this list needs what a name stands for: webhooks know nothing of the service's password, scoring nothing
of the webhooks' secrets. Called with a dict: name, flows. Empty: no.
*/}}
{{- define "connector.isNeeded" -}}
{{- $calls := or (has "scoring" .flows) (has "sync" .flows) -}}
{{- if hasPrefix "WEBHOOK_" .name -}}
{{- if has "reviews" .flows -}}yes{{- end -}}
{{- else if or (hasPrefix "SERVICE_" .name) (hasPrefix "SYNC_" .name) (eq "MAPPING_FILE" .name) -}}
{{- if $calls -}}yes{{- end -}}
{{- else -}}yes{{- end -}}
{{- end -}}

{{/* Time to end in: what was begun, then webhooks, then room. */}}
{{- define "connector.graceSeconds" -}}
{{- $drainMs := int64 (get .Values.options "DRAIN_TIMEOUT_MS" | default 20000) -}}
{{- add (div (add $drainMs 999) 1000) 20 -}}
{{- end -}}

{{- define "connector.webhookPath" -}}
{{- get .Values.options "WEBHOOK_PATH" | default "/webhooks/fraud" -}}
{{- end -}}
