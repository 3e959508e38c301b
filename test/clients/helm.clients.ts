/**
 * The Helm chart, rendered by helm itself, which the machine's own Go builds once into .cache/clients. Every manifest is
 * decoded strictly into the typed API of Kubernetes. No cluster takes it here.
 */

import { beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { version } from '../../package.json'
import { parseConfig } from '../../src/config.ts'
import { deployTool, goProgram } from './deploy-tool.ts'
import { runClient } from './processes.ts'

const chart = new URL('../../deploy/helm/covenant', import.meta.url).pathname
let helm: string
let deploy: string

beforeAll(async () => {
  helm = await goProgram('helm', 'helm.sh/helm/v3/cmd/helm', '3.22.0')
  deploy = await deployTool()
}, 3_100_000)

interface Rendered {
  readonly kind: string
  readonly metadata: { readonly name: string }
  // biome-ignore lint/suspicious/noExplicitAny: manifests have many shapes
  readonly spec: any
}

async function render(...words: readonly string[]) {
  const { exitCode, output } = await runClient('helm-template', [helm, 'template', 'one', chart, ...words], {
    seconds: 60,
  })
  return { exitCode, output }
}

/** Decodes manifests as Kubernetes' own types, where an unknown field is an error. @returns `group/version Kind` of each */
async function decode(manifests: string) {
  const child = Bun.spawn([deploy, 'manifests'], {
    stdin: new Blob([manifests]),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, error] = await Promise.all([child.stdout.text(), child.stderr.text()])
  await child.exited
  return { kinds: error === '' ? (JSON.parse(out) as readonly string[]) : [], error }
}

async function objects(...words: readonly string[]): Promise<readonly Rendered[]> {
  const { exitCode, output } = await render(...words)
  expect({ exitCode, output: exitCode === 0 ? '' : output }).toEqual({ exitCode: 0, output: '' })
  return (Bun.YAML.parse(output) as readonly (Rendered | null)[]).filter((one) => one !== null)
}

const one = (all: readonly Rendered[], kind: string) => {
  const found = all.filter((each) => each.kind === kind)
  expect(found).toHaveLength(1)
  return found[0] as Rendered
}

test('helm: finds nothing wrong with the chart', async () => {
  const { exitCode, output } = await runClient('helm-lint', [helm, 'lint', '--strict', chart], {
    seconds: 60,
  })
  expect({ exitCode, output: exitCode === 0 ? '' : output }).toEqual({ exitCode: 0, output: '' })
}, 90_000)

/** Not of any image. */
const digest = `sha256:${'0'.repeat(64)}`

/** Values that make every template take its other ways. */
const otherValues = [
  ['--set', 'networkPolicy.enabled=false'],
  ['--set-json', 'networkPolicy.clients=[{"podSelector":{"matchLabels":{"app":"spark"}}}]'],
  ['--set-json', 'networkPolicy.metrics=[]'],
  ['--set-json', 'networkPolicy.egress=[{"to":[{"ipBlock":{"cidr":"10.0.0.0/8"}}],"ports":[{"port":5432}]}]'],
  ['--set', 'replicas=3,podDisruptionBudget.minAvailable=2,journal.storageClass=fast'],
  [
    '--set-json',
    'nodeSelector={"disk":"ssd"}',
    '--set-json',
    'tolerations=[{"key":"a","operator":"Exists"}]',
  ],
  ['--set', 'service.type=LoadBalancer', '--set-json', 'service.annotations={"a":"b"}'],
  [
    '--set-json',
    'imagePullSecrets=[{"name":"registry"}]',
    '--set-json',
    'serviceAccount.annotations={"a":"b"}',
  ],
  ['--set', `image.digest=${digest},existingSecret=mine`, '--set-string', 'settings.SVC_POOL_MAX=20'],
] as const

test('helm: every manifest is one of Kubernetes, whatever the values, and holds nothing that its kind does not have', async () => {
  const { output } = await render()
  expect(await decode(output)).toEqual({
    kinds: expect.arrayContaining([
      ...['apps/v1 StatefulSet', 'policy/v1 PodDisruptionBudget', 'networking.k8s.io/v1 NetworkPolicy'],
      ...['v1 Service', 'v1 ServiceAccount'],
    ]),
    error: '',
  })
  for (const words of otherValues) {
    const { exitCode, output: other } = await render(...words)
    expect({ words, exitCode, ...(await decode(other)) }).toMatchObject({ words, exitCode: 0, error: '' })
  }
  const wrong = await decode(output.replace('readOnlyRootFilesystem', 'readOnlyRootFileSystem'))
  expect(wrong.error).toContain(
    'unknown field "spec.template.spec.containers[0].securityContext.readOnlyRootFileSystem"',
  )
  expect((await decode(output.replace('replicas: 2', 'replicas: "two"'))).error).toContain('replicas')
}, 120_000)

test('helm: two replicas, of which one stays, in a pod that writes to its volumes only', async () => {
  const all = await objects()
  const { spec } = one(all, 'StatefulSet')
  expect(spec.replicas).toBe(2)
  expect(one(all, 'PodDisruptionBudget').spec.minAvailable).toBe(1)
  const pod = spec.template.spec
  expect(pod).toMatchObject({
    enableServiceLinks: false,
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 45,
    securityContext: { runAsNonRoot: true, runAsUser: 10001, seccompProfile: { type: 'RuntimeDefault' } },
  })
  const [container] = pod.containers
  expect(container.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  })
  expect(container.image).toBe(`covenant:${version}`)
  expect(container.livenessProbe.httpGet).toEqual({ path: '/livez', port: 'http' })
  expect(container.readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'http' })
  const volumes = new Set(
    [...pod.volumes, ...spec.volumeClaimTemplates.map(({ metadata }: never) => metadata)].map(
      ({ name }) => name,
    ),
  )
  expect(volumes).toEqual(new Set(container.volumeMounts.map(({ name }: { name: string }) => name)))
}, 90_000)

test('helm: the service accepts the settings that the chart gives it, beside those of the secret', async () => {
  const [container] = one(await objects(), 'StatefulSet').spec.template.spec.containers
  expect(container.envFrom).toEqual([{ secretRef: { name: 'covenant' } }])
  const given = container.env.map(({ name, value }: { name: string; value: string }) => [name, value])
  const secret = {
    SVC_DATABASE_URL: 'postgres://covenant@database/covenant',
    SVC_SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
  }
  const config = parseConfig({ ...Object.fromEntries(given), ...secret })
  expect(config).toMatchObject({ poolMax: 10, drainDelayMs: 15_000, journalDir: '/var/lib/covenant/journal' })
  const ports = new Map(container.ports.map(({ name, containerPort }: never) => [name, containerPort]))
  expect(ports).toEqual(
    new Map([
      ['http', config.listen.port],
      ['metrics', config.metricsListen.port],
      ['pgwire', config.pgwireListen.port],
      ['xmla', config.xmlaListen.port],
    ]),
  )
}, 90_000)

test('helm: the network policy lets in clients and the monitoring, and can be narrowed and left out', async () => {
  const [clients, metrics] = one(await objects(), 'NetworkPolicy').spec.ingress
  expect(clients.ports.map(({ port }: { port: string }) => port)).toEqual(['http', 'pgwire', 'xmla'])
  expect(metrics.from).toEqual([
    { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } },
  ])
  const peer = '{"podSelector":{"matchLabels":{"app":"spark"}}}'
  const narrow = one(await objects('--set-json', `networkPolicy.clients=[${peer}]`), 'NetworkPolicy')
  expect(narrow.spec.ingress[0].from).toEqual([JSON.parse(peer)])
  const without = await objects('--set', 'networkPolicy.enabled=false')
  expect(without.map(({ kind }) => kind)).not.toContain('NetworkPolicy')
}, 90_000)

test('helm: what is selected is there: pods, services, ports, the budget and the policy', async () => {
  const all = await objects()
  const { spec } = one(all, 'StatefulSet')
  const { labels } = spec.template.metadata
  const selectors = [
    spec.selector.matchLabels,
    one(all, 'PodDisruptionBudget').spec.selector.matchLabels,
    one(all, 'NetworkPolicy').spec.podSelector.matchLabels,
    spec.template.spec.topologySpreadConstraints[0].labelSelector.matchLabels,
    ...all.filter(({ kind }) => kind === 'Service').map((service) => service.spec.selector),
  ]
  for (const selector of selectors) expect(labels).toMatchObject(selector)
  const services = all.filter(({ kind }) => kind === 'Service')
  expect(services.map(({ metadata }) => metadata.name)).toContain(spec.serviceName)
  expect(one(all, 'ServiceAccount').metadata.name).toBe(spec.template.spec.serviceAccountName)
  const ports = spec.template.spec.containers[0].ports.map(({ name }: { name: string }) => name)
  const named = [
    ...services.flatMap((service) =>
      service.spec.ports.map((port: { targetPort: string }) => port.targetPort),
    ),
    ...one(all, 'NetworkPolicy').spec.ingress.flatMap((rule: { ports: { port: string }[] }) =>
      rule.ports.map(({ port }) => port),
    ),
  ]
  for (const port of named) expect(ports).toContain(port)
}, 90_000)

test('helm: a pod that starts is given time, one that hangs is restarted, and one that is not ready gets nothing', async () => {
  const [container] = one(await objects(), 'StatefulSet').spec.template.spec.containers
  const { startupProbe, livenessProbe, readinessProbe } = container
  expect(startupProbe.httpGet).toEqual({ path: '/livez', port: 'http' })
  // Migrations of many tenants take minutes.
  expect(startupProbe.periodSeconds * startupProbe.failureThreshold).toBeGreaterThanOrEqual(300)
  expect(livenessProbe.httpGet.path).toBe('/livez')
  expect(readinessProbe.httpGet.path).toBe('/readyz')
  expect(readinessProbe.periodSeconds * readinessProbe.failureThreshold).toBeLessThanOrEqual(15)
}, 90_000)

test('helm: the secret is one that exists, by the name that is given, and no secret is in the chart', async () => {
  const all = await objects('--set', 'existingSecret=mine')
  const [container] = one(all, 'StatefulSet').spec.template.spec.containers
  expect(container.envFrom).toEqual([{ secretRef: { name: 'mine' } }])
  expect(all.map(({ kind }) => kind)).not.toContain('Secret')
  const names = container.env.map(({ name }: { name: string }) => name)
  for (const name of ['SVC_DATABASE_URL', 'SVC_SECRETS_KEY']) expect(names).not.toContain(name)
}, 90_000)

test('helm: a release without a secret is refused, and a digest pins the image', async () => {
  const refused = await render('--set', 'existingSecret=')
  expect(refused.exitCode).not.toBe(0)
  expect(refused.output).toContain('existingSecret is required')
  const pinned = one(await objects('--set', `image.digest=${digest}`), 'StatefulSet')
  expect(pinned.spec.template.spec.containers[0].image).toBe(`covenant@${digest}`)
}, 90_000)

test('helm: values that would leave no replica to serve, or that nothing reads, are refused', async () => {
  for (const [value, said] of [
    ['replicas=1', 'replicas'],
    ['replica=3', 'replica'],
    ['image.digest=latest', 'digest'],
    ['settings.POOL_MAX=a', 'POOL_MAX'],
    ['drainDelaySeconds=900', 'drainDelaySeconds'],
  ] as const) {
    const { exitCode, output } = await render('--set', value)
    expect([value, exitCode === 0]).toEqual([value, false])
    expect(output).toContain(said)
  }
}, 90_000)

test('helm: the chart has the version of the package', () => {
  const { appVersion } = Bun.YAML.parse(readFileSync(join(chart, 'Chart.yaml'), 'utf8')) as {
    appVersion: string
  }
  expect(appVersion).toBe(version)
})
