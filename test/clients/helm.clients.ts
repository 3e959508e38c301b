/**
 * The Helm chart, rendered by helm itself, which the machine's own Go builds once into .cache/clients. No cluster takes
 * it here, and no schema of Kubernetes is at hand: the tests look at what is rendered.
 */

import { beforeAll, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { version } from '../../package.json'
import { parseConfig } from '../../src/config.ts'
import { runClient } from './processes.ts'

const helmVersion = '3.22.0'
const folder = new URL(`../../.cache/clients/helm-${helmVersion}/`, import.meta.url).pathname
const helm = join(folder, 'helm')
const chart = new URL('../../deploy/helm/covenant', import.meta.url).pathname

beforeAll(async () => {
  if (existsSync(helm)) return
  const command = ['go', 'install', `helm.sh/helm/v3/cmd/helm@v${helmVersion}`]
  const { exitCode, output } = await runClient('helm-build', command, {
    env: { GOBIN: folder },
    seconds: 1_500,
  })
  if (exitCode !== 0) throw new Error(`helm was not built:\n${output.slice(-2000)}`)
}, 1_600_000)

interface Rendered {
  readonly kind: string
  // biome-ignore lint/suspicious/noExplicitAny: manifests have many shapes
  readonly spec: any
}

async function render(...words: readonly string[]) {
  const { exitCode, output } = await runClient('helm-template', [helm, 'template', 'one', chart, ...words], {
    seconds: 60,
  })
  return { exitCode, output }
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
  expect(container.livenessProbe.httpGet).toEqual({ path: '/healthz', port: 'http' })
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
    ]),
  )
}, 90_000)

test('helm: the network policy lets in clients and the monitoring, and can be narrowed and left out', async () => {
  const [clients, metrics] = one(await objects(), 'NetworkPolicy').spec.ingress
  expect(clients.ports.map(({ port }: { port: string }) => port)).toEqual(['http', 'pgwire'])
  expect(metrics.from).toEqual([
    { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } },
  ])
  const peer = '{"podSelector":{"matchLabels":{"app":"spark"}}}'
  const narrow = one(await objects('--set-json', `networkPolicy.clients=[${peer}]`), 'NetworkPolicy')
  expect(narrow.spec.ingress[0].from).toEqual([JSON.parse(peer)])
  const without = await objects('--set', 'networkPolicy.enabled=false')
  expect(without.map(({ kind }) => kind)).not.toContain('NetworkPolicy')
}, 90_000)

test('helm: a release without a secret is refused, and a digest pins the image', async () => {
  const refused = await render('--set', 'existingSecret=')
  expect(refused.exitCode).not.toBe(0)
  expect(refused.output).toContain('existingSecret is required')
  const pinned = one(await objects('--set', 'image.digest=sha256:abc'), 'StatefulSet')
  expect(pinned.spec.template.spec.containers[0].image).toBe('covenant@sha256:abc')
}, 90_000)

test('helm: the chart has the version of the package', () => {
  const { appVersion } = Bun.YAML.parse(readFileSync(join(chart, 'Chart.yaml'), 'utf8')) as {
    appVersion: string
  }
  expect(appVersion).toBe(version)
})
