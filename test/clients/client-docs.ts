/** Client settings as docs/iceberg-clients.md shows them, with the address and secret of a running gateway put in. */

import { readFileSync } from 'node:fs'
import type { Gateway } from './gateway.ts'

const text = readFileSync(new URL('../../docs/iceberg-clients.md', import.meta.url), 'utf8')

/** The fenced block below the heading of `client`. */
export function documentedSettings(client: string, gateway: Gateway): string {
  const block = new RegExp(`^## ${client}\n[\\s\\S]*?^\`\`\`\\w+\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(text)?.[1]
  if (block === undefined) throw new Error(`docs/iceberg-clients.md has no settings for ${client}`)
  for (const placeholder of ['https://covenant.example/v1/iceberg/main', 'svc_SECRET'])
    if (!block.includes(placeholder)) throw new Error(`the settings for ${client} lack ${placeholder}`)
  return block
    .replaceAll('https://covenant.example/v1/iceberg/main', gateway.catalogUri())
    .replaceAll('svc_SECRET', gateway.secret)
    .replaceAll('SESSION_ID', gateway.sessionId)
}
