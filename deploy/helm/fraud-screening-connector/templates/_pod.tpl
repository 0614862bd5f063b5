{{/*
A deployment. Called with a dict: root, component, flows, replicas.
*/}}
{{- define "connector.deployment" -}}
{{- $root := .root -}}
{{- $values := $root.Values -}}
{{- $component := .component -}}
{{- $flows := .flows -}}
{{- $name := include "connector.fullname" $root -}}
{{- if ne $component "connector" }}{{ $name = printf "%s-%s" $name $component }}{{ end -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $name }}
  labels:
    {{- include "connector.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ $component }}
spec:
  replicas: {{ .replicas }}
  revisionHistoryLimit: 5
  # A new process is ready before an old one goes, so that partitions and webhooks are never without one.
  strategy:
    type: RollingUpdate
    rollingUpdate: { maxSurge: 1, maxUnavailable: 0 }
  minReadySeconds: 5
  selector:
    matchLabels:
      {{- include "connector.selector" $root | nindent 6 }}
      app.kubernetes.io/component: {{ $component }}
  template:
    metadata:
      labels:
        {{- include "connector.labels" $root | nindent 8 }}
        app.kubernetes.io/component: {{ $component }}
        {{- with $values.podLabels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      annotations:
        # Read once, at start: a change of it is a new pod. Secrets are followed and need none.
        checksum/mapping: {{ $values.mapping | sha256sum }}
        {{- with $values.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      {{- include "connector.pod" (dict "root" $root "component" $component "flows" $flows) | nindent 6 }}
{{- end -}}

{{- define "connector.pod" -}}
{{- $root := .root -}}
{{- $values := $root.Values -}}
serviceAccountName: {{ include "connector.serviceAccountName" $root }}
automountServiceAccountToken: false
# Else Kubernetes would set KAFKA_PORT and the like for services of the namespace.
enableServiceLinks: false
terminationGracePeriodSeconds: {{ include "connector.graceSeconds" $root }}
{{- with $values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  # Mounted secrets are readable by this group.
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
{{- include "connector.spread" . }}
{{- with $values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
containers:
  - name: connector
    image: {{ include "connector.image" $root }}
    imagePullPolicy: {{ $values.image.pullPolicy }}
    args: [run]
    env:
      {{- include "connector.env" . | nindent 6 }}
    ports:
      {{- if has "reviews" .flows }}
      - { name: webhooks, containerPort: 8080 }
      {{- end }}
      - { name: operations, containerPort: 9464 }
    resources:
      requests:
        cpu: {{ $values.resources.cpuRequest | quote }}
        memory: {{ $values.resources.memoryMiB }}Mi
      limits:
        {{- with $values.resources.cpuLimit }}
        cpu: {{ . | quote }}
        {{- end }}
        memory: {{ $values.resources.memoryMiB }}Mi
    securityContext:
      allowPrivilegeEscalation: false
      readOnlyRootFilesystem: true
      capabilities: { drop: [ALL] }
    # Neighbours that are away fail neither life nor, once it was ready, readiness: a restart would not bring them back.
    startupProbe:
      httpGet: { path: /livez, port: operations }
      periodSeconds: 2
      timeoutSeconds: 3
      failureThreshold: 30
    livenessProbe:
      httpGet: { path: /livez, port: operations }
      periodSeconds: 10
      timeoutSeconds: 5
      failureThreshold: 6
    # After SIGTERM it answers no, and webhooks are still taken for 5 s: no preStop is needed.
    readinessProbe:
      httpGet: { path: /readyz, port: operations }
      periodSeconds: 2
      timeoutSeconds: 2
      failureThreshold: 2
    {{- $mounts := include "connector.volumeMounts" . | trim }}
    {{- with $mounts }}
    volumeMounts:
      {{- . | nindent 6 }}
    {{- end }}
{{- with include "connector.volumes" . | trim }}
volumes:
  {{- . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "connector.spread" -}}
{{- $selector := include "connector.selector" .root -}}
{{- $component := .component -}}
{{- $spread := .root.Values.topologySpread -}}
{{- if or $spread.zones $spread.hosts }}
topologySpreadConstraints:
  {{- range $key, $when := dict "topology.kubernetes.io/zone" $spread.zones "kubernetes.io/hostname" $spread.hosts }}
  {{- if $when }}
  - maxSkew: 1
    topologyKey: {{ $key }}
    whenUnsatisfiable: {{ $when }}
    labelSelector:
      matchLabels:
        {{- $selector | nindent 8 }}
        app.kubernetes.io/component: {{ $component }}
  {{- end }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* The environment: what the chart decides, then options, secrets and files by their names. */}}
{{- define "connector.env" -}}
{{- $values := .root.Values -}}
{{- $flows := .flows -}}
- { name: ACCOUNT, value: {{ $values.account | quote }} }
{{- /* Probes and Prometheus come from outside of the pod, whatever the image has set. */}}
- { name: OPS_HOST, value: 0.0.0.0 }
- { name: FLOWS, value: {{ join "," $flows | quote }} }
- { name: NODE_OPTIONS, value: "--max-old-space-size={{ div (mul (int64 $values.resources.memoryMiB) 60) 100 }}" }
{{- range $name, $value := $values.options }}
- name: {{ $name }}
  {{- if kindIs "slice" $value }}
  value: {{ join "," $value | quote }}
  {{- else if kindIs "float64" $value }}
  {{- /* Numbers of JSON: 1000000 must not become 1e+06. */}}
  value: {{ if eq (float64 (int64 $value)) $value }}{{ int64 $value | quote }}{{ else }}{{ $value | quote }}{{ end }}
  {{- else }}
  value: {{ $value | quote }}
  {{- end }}
{{- end }}
{{- range $name, $_ := $values.secrets }}
{{- if include "connector.isNeeded" (dict "name" $name "flows" $flows) }}
- { name: {{ $name }}_FILE, value: /etc/connector/secrets/{{ $name }} }
{{- end }}
{{- end }}
{{- range $name, $_ := $values.files }}
{{- if include "connector.isNeeded" (dict "name" $name "flows" $flows) }}
- { name: {{ $name }}, value: /etc/connector/files/{{ $name }} }
{{- end }}
{{- end }}
{{- if and $values.mapping (include "connector.isNeeded" (dict "name" "MAPPING_FILE" "flows" $flows)) }}
- { name: MAPPING_FILE, value: /etc/connector/mapping/mapping.yaml }
{{- end }}
{{- end -}}

{{- define "connector.volumeMounts" -}}
{{- $sources := include "connector.sources" (dict "of" .root.Values.secrets "flows" .flows) -}}
{{- if $sources }}
- { name: secrets, mountPath: /etc/connector/secrets, readOnly: true }
{{- end }}
{{- if include "connector.sources" (dict "of" .root.Values.files "flows" .flows) }}
- { name: files, mountPath: /etc/connector/files, readOnly: true }
{{- end }}
{{- if and .root.Values.mapping (include "connector.isNeeded" (dict "name" "MAPPING_FILE" "flows" .flows)) }}
- { name: mapping, mountPath: /etc/connector/mapping, readOnly: true }
{{- end }}
{{- end -}}

{{- define "connector.volumes" -}}
{{- with include "connector.sources" (dict "of" .root.Values.secrets "flows" .flows) }}
- name: secrets
  projected:
    defaultMode: 0440
    sources:
      {{- trim . | nindent 6 }}
{{- end }}
{{- with include "connector.sources" (dict "of" .root.Values.files "flows" .flows) }}
- name: files
  projected:
    defaultMode: 0440
    sources:
      {{- trim . | nindent 6 }}
{{- end }}
{{- if and .root.Values.mapping (include "connector.isNeeded" (dict "name" "MAPPING_FILE" "flows" .flows)) }}
- name: mapping
  configMap: { name: {{ include "connector.fullname" .root }}-mapping }
{{- end }}
{{- end -}}

{{/* Sources of a projected volume: one file for each name that is needed. No subPath, because that is never renewed. */}}
{{- define "connector.sources" -}}
{{- $flows := .flows -}}
{{- range $name, $from := .of }}
{{- if include "connector.isNeeded" (dict "name" $name "flows" $flows) }}
{{- if $from.secretName }}
- secret: { name: {{ $from.secretName }}, items: [{ key: {{ $from.key | quote }}, path: {{ $name }} }] }
{{- else }}
- configMap: { name: {{ $from.configMapName }}, items: [{ key: {{ $from.key | quote }}, path: {{ $name }} }] }
{{- end }}
{{- end }}
{{- end }}
{{- end -}}
