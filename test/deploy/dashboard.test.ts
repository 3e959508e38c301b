/** The Grafana dashboard asks only for metrics and labels that the service has, in expressions that Prometheus parses. */

import { expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMetrics } from '../../src/telemetry/metrics.ts'

interface Panel {
  readonly title: string
  readonly description?: string
  readonly type: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly targets?: readonly { readonly expr: string }[]
}

const text = readFileSync(new URL('../../deploy/grafana/covenant.json', import.meta.url), 'utf8')
const { panels } = JSON.parse(text) as { readonly panels: readonly Panel[] }
const charts = panels.filter(({ type }) => type !== 'row')
const expressions = charts.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))

/** Labels that the scrape adds, and that a histogram has. */
const otherLabels = ['job', 'instance', 'le']

interface Known {
  readonly labels: readonly string[]
  readonly type: string
}

/** Every metric of the service with its labels. */
function known(): ReadonlyMap<string, Known> {
  const metrics = createMetrics().registry.getMetricsAsArray() as unknown as readonly {
    readonly name: string
    readonly type?: string
    readonly labelNames?: readonly string[]
  }[]
  const all = metrics.map(
    ({ name, labelNames = [], type = '' }) => [name, { labels: labelNames, type }] as const,
  )
  return new Map([...all, ['up', { labels: [], type: 'gauge' }]])
}

function wrongIn(expression: string, metrics: ReadonlyMap<string, Known>): readonly string[] {
  const wrong: string[] = []
  const labels = new Set<string>(otherLabels)
  for (const [, name = ''] of expression.matchAll(
    /\b((?:svc|commit|process|nodejs)_\w+|up)\b(?=\{|\[|\))/g,
  )) {
    const metric = metrics.get(name) ?? metrics.get(name.replace(/_(bucket|count|sum)$/, ''))
    if (metric === undefined) wrong.push(`no metric ${name}`)
    for (const label of metric?.labels ?? []) labels.add(label)
  }
  const selected = [...expression.matchAll(/[{,]\s*(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label)
  const grouped = [...expression.matchAll(/\bby \(([^)]+)\)/g)].flatMap(([, list = '']) => list.split(', '))
  for (const label of [...selected, ...grouped]) if (!labels.has(label)) wrong.push(`no label ${label}`)
  return wrong
}

test('every expression names metrics and labels of the service', () => {
  const metrics = known()
  expect(expressions.length).toBeGreaterThan(20)
  for (const expression of expressions)
    expect([expression, ...wrongIn(expression, metrics)]).toEqual([expression])
})

test('a metric or a label that is not there is found', () => {
  const metrics = known()
  expect(wrongIn('sum by (nobody) (rate(svc_nothing_total{job="x"}[5m]))', metrics)).toEqual([
    'no metric svc_nothing_total',
    'no label nobody',
  ])
})

if (Bun.which('promtool') === null) {
  test.skip('promtool is not installed (Debian package prometheus): expressions of the dashboard are not parsed', () => {})
} else {
  test('Prometheus parses every expression', () => {
    const folder = mkdtempSync(join(tmpdir(), 'covenant-dashboard-'))
    const rules = expressions.map((expr, index) => ({
      record: `panel:${index}`,
      expr: expr.replaceAll('$__rate_interval', '5m'),
    }))
    writeFileSync(join(folder, 'rules.yml'), JSON.stringify({ groups: [{ name: 'dashboard', rules }] }))
    const { exitCode, stdout, stderr } = Bun.spawnSync(['promtool', 'check', 'rules', 'rules.yml'], {
      cwd: folder,
    })
    rmSync(folder, { recursive: true })
    expect({ exitCode, output: exitCode === 0 ? '' : `${stdout}${stderr}` }).toEqual({
      exitCode: 0,
      output: '',
    })
  })
}

test('every panel says what it shows, and none lies over another', () => {
  expect(charts.filter(({ description = '' }) => description === '')).toEqual([])
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`),
  )
  expect(new Set(cells).size).toBe(cells.length)
})
