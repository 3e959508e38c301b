/** Finds what an expression of Prometheus asks for that the service does not have, by Prometheus' own grammar. */

import { parser } from '@prometheus-io/lezer-promql'
import { createMetrics } from '../../src/telemetry/metrics.ts'

interface Known {
  readonly labels: ReadonlySet<string>
  readonly type: string
}

/** Labels that the scrape adds, and that a histogram has. */
const otherLabels = ['job', 'instance', 'le']

/** Every metric of the service, by name, with its labels, and what a scrape has besides. */
export function metricsOfService(): ReadonlyMap<string, Known> {
  const metrics = createMetrics().registry.getMetricsAsArray() as unknown as readonly {
    readonly name: string
    readonly type?: string
    readonly labelNames?: readonly string[]
  }[]
  const known = new Map<string, Known>([['up', { labels: new Set(otherLabels), type: 'gauge' }]])
  for (const { name, labelNames = [], type = '' } of metrics)
    known.set(name, { labels: new Set([...labelNames, ...otherLabels]), type })
  return known
}

function find(name: string, metrics: ReadonlyMap<string, Known>): Known | undefined {
  const whole = metrics.get(name)
  if (whole !== undefined) return whole
  const [, base = '', suffix = ''] = /^(.+)_(bucket|count|sum)$/.exec(name) ?? []
  const parts = metrics.get(base)
  const has = parts?.type === 'histogram' || (parts?.type === 'summary' && suffix !== 'bucket')
  return has ? parts : undefined
}

/**
 * @returns a sentence for each name of a metric that the service lacks, each label that the metric beside it lacks, each
 *   label of a grouping that none of the metrics has, and each place where the grammar does not hold
 */
export function wrongInExpression(
  expression: string,
  metrics: ReadonlyMap<string, Known>,
): readonly string[] {
  const text = expression.replaceAll('$__rate_interval', '5m')
  const wrong: string[] = []
  const all = new Set(otherLabels)
  const grouped: string[] = []
  let current: Known | undefined
  parser.parse(text).iterate({
    enter({ type, from, to, node }) {
      const word = text.slice(from, to)
      const parent = node.parent?.name
      if (type.isError) wrong.push(`not understood at ${from}: ${text.slice(from, from + 20)}`)
      else if (type.name === 'VectorSelector') current = undefined
      else if (type.name === 'Identifier' && parent === 'VectorSelector') {
        current = find(word, metrics)
        if (current === undefined) wrong.push(`no metric ${word}`)
        for (const label of current?.labels ?? []) all.add(label)
      } else if (type.name === 'LabelName' && parent === 'GroupingLabels') grouped.push(word)
      else if (type.name === 'LabelName' && current?.labels.has(word) === false)
        wrong.push(`no label ${word}`)
    },
  })
  for (const label of grouped) if (!all.has(label)) wrong.push(`no label ${label}`)
  return wrong
}
