/** promtool checks and tests the alert rules, and the service exports every metric that they name. */

import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { Counter, Gauge, Histogram } from 'prom-client'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { metricsOfService, wrongInExpression } from '../support/promql.ts'

const directory = new URL('../../deploy/prometheus/', import.meta.url)
const rules = readFileSync(new URL('alerts.yml', directory), 'utf8')

function promtool(...args: string[]) {
  const { exitCode, stdout, stderr } = Bun.spawnSync(['promtool', ...args], { cwd: directory.pathname })
  return { exitCode, output: `${stdout}${stderr}` }
}

if (Bun.which('promtool') === null) {
  test.skip('promtool is not installed (Debian package prometheus): alert rules are not unit-tested', () => {})
} else {
  test('promtool accepts the rules', () => {
    expect(promtool('check', 'rules', 'alerts.yml')).toMatchObject({ exitCode: 0 })
  })

  test('promtool finds that each alert fires when it should and only then', () => {
    expect(promtool('test', 'rules', 'alerts.test.yml')).toMatchObject({ exitCode: 0 })
  })
}

if (Bun.which('promtool') !== null)
  test('promtool finds nothing wrong with any metric but the unit that the reference gives one of them', async () => {
    const { registry } = createMetrics()
    for (const metric of registry.getMetricsAsArray()) {
      const { labelNames = [] } = metric as unknown as { readonly labelNames?: readonly string[] }
      if (labelNames.length === 0) continue
      const labels = Object.fromEntries(labelNames.map((name) => [name, 'x']))
      if (metric instanceof Histogram) metric.observe(labels, 1)
      else if (metric instanceof Counter) metric.inc(labels)
      else if (metric instanceof Gauge) metric.set(labels, 1)
    }
    const stdin = Buffer.from(await registry.metrics())
    const { stdout, stderr } = Bun.spawnSync(['promtool', 'check', 'metrics'], { stdin })
    expect(`${stdout}${stderr}`.trim()).toBe(
      'svc_gateway_commit_duration_ms metric names should not contain abbreviated units',
    )
  })

test('the rules name metrics of the service, with labels that they have', () => {
  const { groups } = Bun.YAML.parse(rules) as { groups: { rules: { expr: string }[] }[] }
  const expressions = groups.flatMap((group) => group.rules.map(({ expr }) => expr))
  expect(expressions.length).toBeGreaterThan(20)
  const metrics = metricsOfService()
  for (const expression of expressions)
    expect([expression, ...wrongInExpression(expression, metrics)]).toEqual([expression])
})

test('the page for operators says of every alert where to look, and of every metric what it is', async () => {
  const docs = (name: string) => readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8')
  const operations = docs('operations')
  const alerts = [...rules.matchAll(/alert: (\w+)/g)].map(([, name = '']) => name)
  expect(alerts.filter((name) => !operations.includes(`\`${name}\``))).toEqual([])
  const scrape = await createMetrics().registry.metrics()
  const ours = [...scrape.matchAll(/^# TYPE ((?:svc|commit)_\w+)/gm)].map(([, name = '']) => name)
  const told = `${operations}${docs('postgres-compatibility')}`
  expect(ours.filter((name) => !told.includes(`\`${name}`))).toEqual([])
})

test('the two promised alerts are there word for word', () => {
  const parsed = Bun.YAML.parse(rules) as { groups: { rules: Record<string, unknown>[] }[] }
  const all = parsed.groups.flatMap((group) => group.rules)
  expect(all.find((rule) => rule.alert === 'PolicyEngineUnavailableAlert')).toMatchObject({
    expr: 'sum(rate(commit_rejected_total{reason="policy_engine_unavailable"}[1m])) > 0',
    for: '1m',
    labels: { severity: 'page' },
  })
  expect(all.find((rule) => rule.alert === 'PolicyDeniedSpikeAlert')).toMatchObject({
    expr: 'sum(rate(commit_rejected_total{reason="policy_denied"}[5m])) > 10',
    for: '5m',
    labels: { severity: 'warn' },
  })
})
