import type { Values } from './chart.ts';

/** Each chart value, and a pattern that the rendered manifests as JSON match only with this value. */
export const VALUE_CASES: readonly (readonly [Values, RegExp])[] = [
  [{ nameOverride: 'other' }, /"app\.kubernetes\.io\/name":"other"/],
  [{ fullnameOverride: 'other' }, /"StatefulSet","metadata":\{"name":"other"/],
  [{ namespaceOverride: 'other' }, /"StatefulSet","metadata":\{"name":"xvs-exporter","namespace":"other"/],
  [{ replicaCount: 2 }, /"replicas":2/],
  [{ revisionHistoryLimit: 3 }, /"revisionHistoryLimit":3/],
  [{ shards: { count: 4 } }, /"replicas":4.*\{"name":"XVS_SHARD_COUNT","value":"4"\}\]/],
  [{ state: { enabled: true } }, /\{"name":"XVS_STATE_PATH","value":"\/var\/lib\/xvs-exporter"\}\]/],
  [{ state: { enabled: true, size: '5Gi' } }, /"volumeClaimTemplates":.*"storage":"5Gi"/],
  [{ state: { enabled: true, storageClass: 'fast' } }, /"storageClassName":"fast"/],
  [{ image: { registry: 'r.example.org' } }, /"image":"r\.example\.org\/xvs-exporter:0\.1\.0"/],
  [{ image: { registry: '' } }, /"image":"xvs-exporter:0\.1\.0"/],
  [{ image: { repository: 'video/x' } }, /"image":"registry\.example\.com\/video\/x:0\.1\.0"/],
  [{ global: { imageRegistry: 'g.example.org' } }, /"image":"g\.example\.org\/xvs-exporter:0\.1\.0"/],
  [
    { global: { imagePullSecrets: [{ name: 'a' }] }, imagePullSecrets: [{ name: 'b' }] },
    /"imagePullSecrets":\[\{"name":"a"\},\{"name":"b"\}\]/,
  ],
  [{ image: { tag: 'next' } }, /"image":"registry\.example\.com\/xvs-exporter:next"/],
  [
    { image: { digest: `sha256:${'0'.repeat(64)}` } },
    /"image":"registry\.example\.com\/xvs-exporter@sha256:0{64}"/,
  ],
  [{ image: { pullPolicy: 'Always' } }, /"imagePullPolicy":"Always"/],
  [{ imagePullSecrets: [{ name: 'registry' }] }, /"imagePullSecrets":\[\{"name":"registry"\}\]/],
  [{ config: { poll: { interval: '30s' } } }, /interval: 30s/],
  [{ existingSecret: 'mine' }, /"secretName":"mine"/],
  [{ secrets: { TESTING: 'abc' } }, /"data":\{"TESTING":"YWJj"\}/],
  [{ extraArgs: ['--log.level=debug'] }, /config\.yml","--log\.level=debug"\]/],
  [{ extraEnv: [{ name: 'A', value: '1' }] }, /\{"name":"A","value":"1"\}\]/],
  [{ envFrom: [{ secretRef: { name: 'e' } }] }, /"envFrom":\[\{"secretRef":\{"name":"e"\}\}\]/],
  [
    { initContainers: [{ name: 'i', image: 'i:1' }] },
    /"initContainers":\[\{"image":"i:1","name":"i"\}\],"containers":/,
  ],
  [
    { extraContainers: [{ name: '{{ .Release.Name }}-proxy', image: 'p:1' }] },
    /\},\{"image":"p:1","name":"xvs-exporter-proxy"\}\],"volumes":/,
  ],
  [{ extraVolumes: [{ name: 'v', configMap: { name: 'c' } }] }, /\{"configMap":\{"name":"c"\},"name":"v"\}/],
  [{ extraVolumeMounts: [{ name: 'v', mountPath: '/v' }] }, /\{"mountPath":"\/v","name":"v"\}/],
  [{ serviceAccount: { name: 'other' } }, /"serviceAccountName":"other"/],
  [{ serviceAccount: { annotations: { a: 'b' } } }, /"annotations":\{"a":"b"\}/],
  [{ service: { port: 80 } }, /"port":80,"targetPort":"http"/],
  [{ service: { labels: { a: 'b' } } }, /"a":"b"\}\},"spec":\{"type":"ClusterIP"/],
  [{ service: { annotations: { a: 'b' } } }, /"annotations":\{"a":"b"\}\},"spec":\{"type":"ClusterIP"/],
  [{ service: { type: 'NodePort' } }, /"spec":\{"type":"NodePort","selector"/],
  [{ service: { clusterIP: '' } }, /"spec":\{"type":"ClusterIP","selector"/],
  [{ ingress: { enabled: true } }, /"Ingress".*"host":"xvs-exporter\.example\.com".*"pathType":"Prefix"/],
  [{ ingress: { enabled: true, className: 'nginx' } }, /"ingressClassName":"nginx"/],
  [{ ingress: { enabled: true, labels: { a: 'b' } } }, /"a":"b"\}\},"spec":\{"rules"/],
  [{ ingress: { enabled: true, annotations: { a: 'b' } } }, /"annotations":\{"a":"b"\}\},"spec":\{"rules"/],
  [
    {
      ingress: {
        enabled: true,
        hosts: [{ host: '{{ .Release.Name }}.example.org', paths: [{ path: '/m' }] }],
      },
    },
    /"host":"xvs-exporter\.example\.org","http":\{"paths":\[\{"path":"\/m","pathType":"Prefix"/,
  ],
  [
    {
      ingress: { enabled: true, tls: [{ secretName: '{{ .Release.Name }}-tls', hosts: ['x.example.org'] }] },
    },
    /"tls":\[\{"hosts":\["x\.example\.org"\],"secretName":"xvs-exporter-tls"\}\]/,
  ],
  [{ resources: { limits: { cpu: '1' } } }, /"limits":\{"cpu":"1","memory":"512Mi"\}/],
  [{ podSecurityContext: { runAsUser: 1000 } }, /"runAsUser":1000/],
  [{ securityContext: { runAsGroup: 1000 } }, /"runAsGroup":1000/],
  [{ startupProbe: { periodSeconds: 60 } }, /"periodSeconds":60/],
  [{ livenessProbe: { periodSeconds: 60 } }, /"periodSeconds":60/],
  [{ readinessProbe: { periodSeconds: 60 } }, /"periodSeconds":60/],
  [{ podDisruptionBudget: { minAvailable: 1 } }, /"PodDisruptionBudget".*"spec":\{"minAvailable":1,/],
  [
    { networkPolicy: { enabled: true, from: [{ podSelector: {} }] } },
    /"from":\[\{"podSelector":\{\}\},\{"podSelector":\{"matchLabels":\{"app.kubernetes.io\/name":"xvs-exporter-test"/,
  ],
  [
    { networkPolicy: { enabled: true, egress: [{ ports: [{ port: 3128 }] }] } },
    /\{"ports":\[\{"port":3128\}\]\}/,
  ],
  [{ commonLabels: { team: 'video' } }, /"team":"video"/],
  [{ podAnnotations: { a: 'b' } }, /"a":"b"/],
  [{ podLabels: { a: 'b' } }, /"a":"b"/],
  [{ nodeSelector: { disk: 'ssd' } }, /"nodeSelector":\{"disk":"ssd"\}/],
  [{ tolerations: [{ operator: 'Exists' }] }, /"tolerations":\[\{"operator":"Exists"\}\]/],
  [{ affinity: { nodeAffinity: {} } }, /"affinity":\{"nodeAffinity":\{\}\}/],
  [
    {
      topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' }],
    },
    /"topologyKey":"zone","whenUnsatisfiable":"ScheduleAnyway","labelSelector":\{"matchLabels":\{"app\.kubernetes\.io\/name":"xvs-exporter"/,
  ],
  [
    {
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: {} },
      ],
    },
    /"labelSelector":\{\},"maxSkew":1/,
  ],
  [{ nodeOptions: '--max-old-space-size=1' }, /"name":"NODE_OPTIONS","value":"--max-old-space-size=1"/],
  [
    { hostAliases: [{ ip: '192.0.2.1', hostnames: ['a'] }] },
    /"hostAliases":\[\{"hostnames":\["a"\],"ip":"192/,
  ],
  [{ dnsConfig: { searches: ['a'] } }, /"dnsConfig":\{"searches":\["a"\]\}/],
  [{ networkPolicy: { enabled: true, dns: [{ podSelector: {} }] } }, /"to":\[\{"podSelector":\{\}\}\]/],
  [{ config: { web: { listen_address: ':9000' } } }, /"containerPort":9000/],
  [{ priorityClassName: 'high' }, /"priorityClassName":"high"/],
  [{ terminationGracePeriodSeconds: 5 }, /"terminationGracePeriodSeconds":5/],
  [
    {
      extraManifests: [
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: '{{ .Release.Name }}-more' } },
      ],
    },
    /"name":"xvs-exporter-more"/,
  ],
  ...['serviceMonitor', 'podMonitor'].flatMap(listMonitorCases),
  [{ prometheusRule: { enabled: true, namespace: 'mon' } }, /"namespace":"mon"/],
  [{ prometheusRule: { enabled: true, additionalLabels: { release: 'p' } } }, /"release":"p"/],
  [
    { prometheusRule: { enabled: true, runbookUrl: 'https://r.example.org' } },
    /"https:\/\/r\.example\.org#xvs/,
  ],
  [
    { prometheusRule: { enabled: true, dashboardUrl: 'https://g.example.org/grafana/' } },
    /"https:\/\/g\.example\.org\/grafana\/d\/xvs-/,
  ],
  [{ prometheusRule: { enabled: true, additionalRuleLabels: { team: 'video' } } }, /"team":"video"/],
  [
    { prometheusRule: { enabled: true, additionalGroups: [{ name: 'g', rules: [] }] } },
    /"xvs-exporter-additional".*"groups":\[\{"name":"g","rules":\[\]\}\]/,
  ],
  [{ dashboards: { enabled: true } }, /"grafana_dashboard":"1"\}\},"data":\{"xvs-overview\.json":"\{/],
  [{ dashboards: { enabled: true, namespace: 'grafana' } }, /"namespace":"grafana"/],
  [{ dashboards: { enabled: true, label: 'board', labelValue: 'yes' } }, /"board":"yes"/],
  [{ dashboards: { enabled: true, annotations: { grafana_folder: 'Live' } } }, /"grafana_folder":"Live"/],
  [
    { dashboards: { enabled: true, multiCluster: true } },
    /\\"name\\": \\"cluster\\",(?:(?!\\"name\\").)*\\"hide\\": 0/,
  ],
];

/** The cases of ServiceMonitor and PodMonitor, which have the same values. */
function listMonitorCases(monitor: string): readonly (readonly [Values, RegExp])[] {
  const cases: readonly (readonly [Values, RegExp])[] = [
    [{ interval: '1m' }, /"interval":"1m","scrapeTimeout":"10s"/],
    [{ scrapeTimeout: '5s' }, /"scrapeTimeout":"5s"/],
    [{ scheme: 'https' }, /"path":"\/metrics","scheme":"https"/],
    [
      { tlsConfig: { ca: { secret: { name: 'c', key: 'ca.pem' } }, serverName: 'x.example.com' } },
      /"tlsConfig":\{"ca":\{"secret":\{"key":"ca\.pem","name":"c"\}\},"serverName":"x\.example\.com"\}/,
    ],
    [
      { basicAuth: { username: { name: 's', key: 'u' }, password: { name: 's', key: 'p' } } },
      /"basicAuth":\{"password":\{"key":"p","name":"s"\},"username":\{"key":"u","name":"s"\}\}/,
    ],
    [{ params: { service_code: ['A'] } }, /"params":\{"service_code":\["A"\]\}/],
    [{ namespace: 'mon' }, /"namespace":"mon".*"matchNames":\["live"\]/],
    [{ additionalLabels: { release: 'p' } }, /"release":"p"/],
    [{ relabelings: [{ action: 'drop' }] }, /"xvs-exporter"\},\{"action":"drop"\}/],
    [{ metricRelabelings: [{ action: 'drop' }] }, /"metricRelabelings":\[\{"action/],
    [{ sampleLimit: 2_000_000 }, /"sampleLimit":2000000[,}]/],
    [{ targetLimit: 10 }, /"targetLimit":10/],
    [{ labelLimit: 40 }, /"labelLimit":40/],
    [{ labelNameLengthLimit: 100 }, /"labelNameLengthLimit":100/],
    [{ labelValueLengthLimit: 200 }, /"labelValueLengthLimit":200/],
  ];
  return cases.map(([values, pattern]) => [{ [monitor]: { enabled: true, ...values } }, pattern]);
}
