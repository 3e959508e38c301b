/** docs/graphql.md: the first query, sent by curl as it stands there, gives the answer that stands there. */

import { expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { graphqlBounds } from '../../src/server/graphql/bounds.ts'
import { startLake } from '../support/lake.ts'
import { licenseForAll } from '../support/license.ts'

setDefaultTimeout(300_000)

const page = readFileSync(new URL('../../docs/graphql.md', import.meta.url), 'utf8')
const block = (language: string) => new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(page)?.[1] ?? ''

test('the first query gives the answer of the page', async () => {
  await using lake = await startLake({ env: { SVC_LICENSE: licenseForAll() } })
  const child = Bun.spawn(['sh', '-c', block('sh')], {
    env: {
      ...process.env,
      COVENANT: lake.app.url.href.replace(/\/$/, ''),
      SECRET: lake.restricted.PGPASSWORD,
    },
  })
  const text = await new Response(child.stdout).text()
  expect(JSON.parse(text)).toEqual(JSON.parse(block('json')))
})

test('the limits of the page are those of the service', () => {
  const { depthMax, aliasesMax, tokensMax, costMax, firstMax } = graphqlBounds
  for (const row of [
    `| depth of fields | ${depthMax} |`,
    `| aliases | ${aliasesMax} |`,
    `| tokens | ${tokensMax.toLocaleString('en')} |`,
    `| objects that may be given, with variables and fragments | ${costMax.toLocaleString('en')} |`,
    `| \`first\` | ${firstMax} |`,
  ])
    expect(page).toContain(row)
})
