import type { Values } from './chart.ts';

/** A value of the chart for each thing that can be set, and what it makes of the manifests as JSON. */
export const VALUE_CASES: readonly (readonly [Values, RegExp])[] = [
  [{ nameOverride: 'other' }, /"app\.kubernetes\.io\/name":"other"/],
  [{ fullnameOverride: 'other' }, /"StatefulSet","metadata":\{"name":"other"/],
  [{ replicaCount: 2 }, /"replicas":2/],
  [{ shards: { count: 4 } }, /"replicas":4.*"env":\[\{"name":"XVS_SHARD_COUNT","value":"4"\}\]/],
  [
    { state: { enabled: true } },
    /"env":\[\{"name":"XVS_STATE_FILE","value":"\/var\/lib\/xvs-exporter\/state"\}\]/,
  ],
  [{ state: { enabled: true, size: '5Gi' } }, /"volumeClaimTemplates":.*"storage":"5Gi"/],
  [{ state: { enabled: true, storageClass: 'fast' } }, /"storageClassName":"fast"/],
  [{ image: { repository: 'r.example.org/x' } }, /"image":"r\.example\.org\/x:0\.1\.0"/],
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
  [{ extraEnv: [{ name: 'A', value: '1' }] }, /"env":\[\{"name":"A","value":"1"\}\]/],
  [{ extraVolumes: [{ name: 'v', configMap: { name: 'c' } }] }, /\{"configMap":\{"name":"c"\},"name":"v"\}/],
  [{ extraVolumeMounts: [{ name: 'v', mountPath: '/v' }] }, /\{"mountPath":"\/v","name":"v"\}/],
  [{ serviceAccount: { name: 'other' } }, /"serviceAccountName":"other"/],
  [{ serviceAccount: { annotations: { a: 'b' } } }, /"annotations":\{"a":"b"\}/],
  [{ service: { port: 80 } }, /"port":80,"targetPort":"http"/],
  [{ service: { labels: { a: 'b' } } }, /"a":"b"\}\},"spec":\{"clusterIP"/],
  [{ service: { annotations: { a: 'b' } } }, /"annotations":\{"a":"b"\}\},"spec":\{"clusterIP"/],
  [{ resources: { limits: { cpu: '1' } } }, /"limits":\{"cpu":"1","memory":"320Mi"\}/],
  [{ podSecurityContext: { runAsUser: 1000 } }, /"runAsUser":1000/],
  [{ securityContext: { runAsGroup: 1000 } }, /"runAsGroup":1000/],
  [{ livenessProbe: { periodSeconds: 60 } }, /"periodSeconds":60/],
  [{ readinessProbe: { periodSeconds: 60 } }, /"periodSeconds":60/],
  [{ networkPolicy: { from: [{ podSelector: {} }] } }, /"from":\[\{"podSelector":\{\}\}\]/],
  [{ networkPolicy: { egress: [{ ports: [{ port: 8443 }] }] } }, /\{"ports":\[\{"port":8443\}\]\}/],
  [{ customLabels: { team: 'video' } }, /"team":"video"/],
  [{ podAnnotations: { a: 'b' } }, /"a":"b"/],
  [{ podLabels: { a: 'b' } }, /"a":"b"/],
  [{ nodeSelector: { disk: 'ssd' } }, /"nodeSelector":\{"disk":"ssd"\}/],
  [{ tolerations: [{ operator: 'Exists' }] }, /"tolerations":\[\{"operator":"Exists"\}\]/],
  [{ affinity: { nodeAffinity: {} } }, /"affinity":\{"nodeAffinity":\{\}\}/],
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
  [{ serviceMonitor: { enabled: true, interval: '1m' } }, /"interval":"1m","scrapeTimeout":"10s"/],
  [{ serviceMonitor: { enabled: true, scrapeTimeout: '5s' } }, /"scrapeTimeout":"5s"/],
  [{ serviceMonitor: { enabled: true, scheme: 'https' } }, /"path":"\/metrics","scheme":"https"/],
  [
    {
      serviceMonitor: {
        enabled: true,
        tlsConfig: { ca: { secret: { name: 'c', key: 'ca.pem' } }, serverName: 'x.example.com' },
      },
    },
    /"tlsConfig":\{"ca":\{"secret":\{"key":"ca\.pem","name":"c"\}\},"serverName":"x\.example\.com"\}/,
  ],
  [
    {
      serviceMonitor: {
        enabled: true,
        basicAuth: { username: { name: 's', key: 'u' }, password: { name: 's', key: 'p' } },
      },
    },
    /"basicAuth":\{"password":\{"key":"p","name":"s"\},"username":\{"key":"u","name":"s"\}\}/,
  ],
  [
    { serviceMonitor: { enabled: true, params: { 'collect[]': ['exporter'] } } },
    /"params":\{"collect\[\]":\["exporter"\]\}/,
  ],
  [{ serviceMonitor: { enabled: true, namespace: 'mon' } }, /"namespace":"mon".*"matchNames":\["live"\]/],
  [{ serviceMonitor: { enabled: true, additionalLabels: { release: 'p' } } }, /"release":"p"/],
  [
    { serviceMonitor: { enabled: true, relabelings: [{ action: 'drop' }] } },
    /"xvs-exporter"\},\{"action":"drop"\}/,
  ],
  [
    { serviceMonitor: { enabled: true, metricRelabelings: [{ action: 'drop' }] } },
    /"metricRelabelings":\[\{"action/,
  ],
  [{ prometheusRule: { enabled: true, namespace: 'mon' } }, /"namespace":"mon"/],
  [{ prometheusRule: { enabled: true, additionalLabels: { release: 'p' } } }, /"release":"p"/],
  [
    { prometheusRule: { enabled: true, runbookUrl: 'https://r.example.org' } },
    /"https:\/\/r\.example\.org#xvs/,
  ],
  [
    { prometheusRule: { enabled: true, additionalGroups: [{ name: 'g', rules: [] }] } },
    /"xvs-exporter-additional".*"groups":\[\{"name":"g","rules":\[\]\}\]/,
  ],
];
