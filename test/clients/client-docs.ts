/** Reads client settings from the documentation, and puts in the address and secret of a running gateway. */

import { readFileSync } from 'node:fs'
import type { Gateway } from './gateway.ts'

const page = (name: string) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8')

/** The first fenced block after `start`, with each placeholder, which must be there, replaced. */
function documentedBlock(name: string, start: string, values: Readonly<Record<string, string>>): string {
  const text = page(name)
  const from = text.indexOf(start)
  const block = from < 0 ? undefined : /^```\w+\n([\s\S]*?)^```$/m.exec(text.slice(from))?.[1]
  if (block === undefined) throw new Error(`docs/${name} has no settings after ${start}`)
  for (const placeholder of Object.keys(values))
    if (!block.includes(placeholder)) throw new Error(`the settings after ${start} lack ${placeholder}`)
  return Object.entries(values).reduce((filled, [from, to]) => filled.replaceAll(from, to), block)
}

/** The fenced block below the heading of `client`. */
export function documentedSettings(
  client: string,
  gateway: Pick<Gateway, 'catalogUri' | 'secret' | 'sessionId'>,
): string {
  return documentedBlock('iceberg-clients.md', `\n## ${client}\n`, {
    'https://covenant.example/v1/iceberg/main': gateway.catalogUri(),
    svc_SECRET: gateway.secret,
  }).replaceAll('SESSION_ID', gateway.sessionId)
}

/** The properties of a Trino catalog, for the release that is run. */
export function documentedTrino(
  gateway: Pick<Gateway, 'catalogUri' | 'secret' | 'sessionId'>,
): Readonly<Record<string, string>> {
  const lines = documentedSettings('Trino before 481', gateway).trim().split('\n')
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )
}

/** The settings by which Spark's OpenLineage listener sends to the service. */
export function documentedLineageSettings(gateway: Gateway, secret: string): string {
  return documentedBlock('lineage.md', '\nWith Spark, ', {
    'https://covenant.example': gateway.app.url.origin,
    svc_SECRET: secret,
  })
}
