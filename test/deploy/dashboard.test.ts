/** The Grafana dashboard asks only for metrics and labels that the service has, in expressions that Prometheus parses. */

import { expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { metricsOfService, wrongInExpression } from '../support/promql.ts'

interface Panel {
  readonly title: string
  readonly description?: string
  readonly type: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly targets?: readonly { readonly expr: string }[]
}

const text = readFileSync(new URL('../../deploy/grafana/covenant.json', import.meta.url), 'utf8')
const { panels, templating } = JSON.parse(text) as {
  readonly panels: readonly Panel[]
  readonly templating: { readonly list: readonly { readonly query: string | { readonly query: string } }[] }
}
const charts = panels.filter(({ type }) => type !== 'row')
/** What `label_values(metric, label)` of a variable asks for. */
const variables = templating.list.flatMap(({ query }) => {
  const found = typeof query === 'string' ? null : /^label_values\((.+), (\w+)\)$/.exec(query.query)
  return found === null ? [] : [`sum by (${found[2]}) (${found[1]})`]
})
const expressions = charts.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))

test('every expression names metrics of the service, with labels that they have', () => {
  const metrics = metricsOfService()
  expect(expressions.length).toBeGreaterThan(20)
  for (const expression of [...expressions, ...variables])
    expect([expression, ...wrongInExpression(expression, metrics)]).toEqual([expression])
})

test.each([
  [
    'sum by (nobody) (rate(svc_nothing_total{job="x"}[5m]))',
    ['no metric svc_nothing_total', 'no label nobody'],
  ],
  ['svc_commit_intents == 1 and svc_nothing', ['no metric svc_nothing']],
  ['commit_rejected_total{table="t"}', ['no label table']],
  // Of two metrics, each has labels of its own.
  ['commit_rejected_total{reason="x"} / svc_commit_intents{reason="x"}', ['no label reason']],
  ['svc_commit_intents_bucket', ['no metric svc_commit_intents_bucket']],
  ['sum(svc_commit_intents', ['not understood at 22: ']],
] as const)('what is not there is found: %s', (expression, wrong) => {
  expect(wrongInExpression(expression, metricsOfService())).toEqual([...wrong])
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
